"""The gateway of bots that connect, a process: `python -m web.gateway.server HOST PORT`, started by
`web.child_process`. The program of an author opens a WebSocket at /connect, with the token of its
bot as Authorization: Bearer and the number of its tables as X-Stich-Tables. It gets

- first `{"cup", "bot"}` as JSON;
- each request as MessagePack: `[number, "POST /move", body]`; it answers with `[number, the bytes
  that the bot answered, whether they are complete]`;
- at the end `{"over"}`, or `{"refused"}` if it should not connect again as it is, with a sentence.

A program that sends X-Stich-Challenges starts the bot once more for challenges: requests whose call
begins with "challenge". Challengers connect to /challenge (see `challenges`).

The runner sees bots by URL, at a path that only it knows: `/SECRET/bots/NAME/…`; GET
`/SECRET/bots` tells how many tables each has. POST `/SECRET/over` says that the cup is over, to
`/SECRET/excluded` which bots no longer play, and to `/SECRET/failed` which must be fixed before
they play; both have a sentence for each. The bytes of an answer are passed on as they are, so a bot
that connects has the same faults as one by URL. A bot that is away closes the connection without an
answer.
"""

import asyncio
import json
import logging
import re
from collections import defaultdict
from collections.abc import Collection
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final, cast
from urllib.parse import unquote

import msgspec
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from web.child_process import begin
from web.gateway.calls import ALIVE_S, ANSWER_LIMIT, Terms
from web.gateway.challenges import Challenges
from web.gateway.connected_bot import BotAnswer, ConnectedBot
from web.gateway.invitations import Invitations, TokenRefused, hash_of
from web.gateway.link import CONNECTIONS, MAX_TABLES, Link

_MESSAGE_LIMIT: Final = ANSWER_LIMIT + 64
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WRONG: Final = (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, LookupError)


class GatewayServer:
    """The server that authors' programs connect to, and that the runner asks for the moves of their
    bots.

    `folder` is the run's folder. Every bot with a valid token may connect, except for `others`,
    which the organiser starts. Only the runner knows the `secret`.
    """

    def __init__(
        self, folder: str, cup: str, others: Collection[str], secret: str, terms: Terms
    ) -> None:
        self._cup = cup
        self._secret = secret
        self._invitations = Invitations(Path(folder))
        self._others = others
        self._bots = defaultdict[str, ConnectedBot](lambda: ConnectedBot(self._invitations))
        self._challenges = Challenges(self._bots, terms)
        self._over = ""
        self._excluded: dict[str, str] = {}

    def listen(self, host: str, port: int) -> Server:
        """Listen for the programs of authors."""
        return serve(
            self._serve,
            host,
            port,
            process_request=self._refuse,
            create_connection=Link,
            max_size=_MESSAGE_LIMIT,
            ping_interval=ALIVE_S,
            ping_timeout=ALIVE_S,
            close_timeout=1,
            compression=None,
        )

    def _why_over(self, name: str) -> str:
        """A sentence that says why a bot no longer plays, or "" if it does."""
        return self._over or self._excluded.get(name, "")

    def _author(self, headers: Headers) -> tuple[str, str, int]:
        """Return the bot of a connecting program, the SHA-256 of its token, and its number of
        tables.

        Raises:
            TokenRefused: if the token or the number of tables is not valid.
        """
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenRefused("Send the token of the bot: stich connect URL --token TOKEN.")
        token_hash = hash_of(token.strip())
        name = self._invitations.bot_of(token_hash)
        if name in self._others:
            raise TokenRefused("The organiser of the cup starts this bot; it need not connect.")
        tables = headers.get("X-Stich-Tables", "")
        if tables not in map(str, range(1, MAX_TABLES + 1)):
            raise TokenRefused(f"The number of tables must be from 1 to {MAX_TABLES}.")
        return name, token_hash, int(tables)

    def _refuse(self, link: ServerConnection, request: Request) -> Response | None:
        """Return the response that refuses a connection, or None to accept it."""
        if request.path == "/healthz":
            return link.respond(200, json.dumps({"status": "ok"}))
        try:
            self._author(request.headers)
        except (TokenRefused, LookupError) as error:
            response = link.respond(401, json.dumps({"detail": str(error)}))
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        cast("Link", link).let_in()
        return None

    async def _serve(self, link: ServerConnection) -> None:
        headers = link.request.headers if link.request else Headers()
        with suppress(TokenRefused, ConnectionClosed):
            name, token_hash, tables = self._author(headers)
            if link.request is not None and link.request.path == "/challenge":
                opponent = unquote(headers.get("X-Stich-Opponent", ""))
                await self._challenges.serve(cast(Link, link), name, opponent)
                return
            await link.send(json.dumps({"cup": self._cup, "bot": name}))
            if why := self._why_over(name):
                await link.send(json.dumps({"over": why}))
            else:
                takes = headers.get("X-Stich-Challenges") == "1"
                bot = self._bots[name]
                await bot.serve(cast(Link, link), token_hash, tables, takes_challenges=takes)

    async def listen_to_runner(self, host: str, port: int) -> asyncio.Server:
        """Listen for the runner, and for its workers on other machines.

        Raises:
            OSError: if the address cannot be used.
        """

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer), suppress(*_WRONG, ValueError):
                answer: BotAnswer | None = BotAnswer(b"", True)
                while answer is not None and answer.complete:
                    answer = await self._answer_runner(reader)
                    writer.write(answer.data if answer is not None else b"")

        return await asyncio.start_server(serve, host, port)

    async def _answer_runner(self, reader: asyncio.StreamReader) -> BotAnswer | None:
        """Read the next request of the runner and return its answer. Return None to close the
        connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        method, path, _ = head.decode("latin-1").split(" ", 2)
        _, known, which, name, *rest = [*path.split("/", 4), "", ""]
        if known != self._secret:
            return None
        length = _LENGTH.search(head)
        body = await reader.readexactly(int(length[1]) if length else 0)
        if which == "bots" and name:
            return await _ask(reader, self._bots[unquote(name)], f"{method} /{rest[0]}", body)
        if which == "bots":
            return _reply({name: bot.present for name, bot in self._bots.items()})
        match which:
            case "failed":
                for name, why in _sentences(body).items():
                    self._bots[name].fail(why)
                return _reply({})
            case "over":
                self._over, self._excluded = "The cup is over.", {}
            case "excluded":
                self._over, self._excluded = "", _sentences(body)
            case _:
                return _reply({}, HTTPStatus.NOT_FOUND)
        for name, bot in self._bots.items():
            if why := self._why_over(name):
                bot.end(why)
        return _reply({})


async def _ask(
    reader: asyncio.StreamReader, bot: ConnectedBot, call: str, body: bytes
) -> BotAnswer | None:
    """Ask a bot. Return its answer, or None if the bot is away or the runner no longer waits."""
    asked = asyncio.ensure_future(bot.ask(call, body))
    gone = asyncio.ensure_future(reader.read(1))  # nothing but its end
    waiting = (asked, gone)
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    answer = asked.result() if asked.done() else None
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting)
    return answer


def _sentences(body: bytes) -> dict[str, str]:
    """The sentences about bots in a request of the runner, by the bot's name."""
    return msgspec.json.decode(body, type=dict[str, str])


def _reply(value: object, status: HTTPStatus = HTTPStatus.OK) -> BotAnswer:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Length: {len(body)}\r\n\r\n"
    return BotAnswer(head.encode("ascii") + body, True)


class _GatewaySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the runner reaches the gateway, and the arguments of `GatewayServer`."""

    runner_host: str
    runner_port: int
    folder: str
    cup: str
    others: list[str]
    secret: str
    terms: Terms


async def _run(host: str, port: int, settings: _GatewaySettings) -> None:
    """Serve until stopped."""
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # strangers may fail to connect
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # or go without reading an answer
    gateway = GatewayServer(
        settings.folder, settings.cup, settings.others, settings.secret, settings.terms
    )
    async with (
        await gateway.listen_to_runner(settings.runner_host, settings.runner_port),
        gateway.listen(host, port) as server,
    ):
        await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(_run(*begin(CONNECTIONS, _GatewaySettings)))
