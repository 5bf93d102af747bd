"""The gateway of connecting bots, which `web.child_process` starts.

An author's program opens a WebSocket at /connect. Its headers hold the token of its bot as
`Authorization: Bearer`, its number of tables as `X-Stich-Tables`, and `X-Stich-Challenges: 1` if it
takes challenges (see `challenges`). The gateway sends `{"cup": NAME, "bot": NAME}` in JSON first,
then requests (see `calls`), and at the end `{"over": WHY}`, or `{"refused": WHY}` if the program
should not connect again without a change. WHY is a sentence.

To the runner, connecting bots are bots by URL, at `/SECRET/bots/NAME/…`. Answers are passed on
unchanged, so that a connecting bot has the same faults as a bot by URL. If the bot is away, the
connection is closed without an answer.
"""

import asyncio
import json
import logging
import re
from collections import defaultdict
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

from tournament.store.engine import StoreError
from web.child_process import begin
from web.gateway.calls import ALIVE_S, ANSWER_LIMIT, Terms
from web.gateway.challenges import Challenges
from web.gateway.connected_bot import (
    CONNECTIONS,
    MAX_TABLES,
    BotAnswer,
    ConnectedBot,
    Link,
    Program,
)
from web.gateway.invitations import Invitations, TokenRefused, hash_of

_MESSAGE_LIMIT: Final = ANSWER_LIMIT + 64
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WRONG: Final = (EOFError, asyncio.LimitOverrunError, OSError, ValueError, StoreError)


class GatewaySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a gateway."""

    runner_host: str  # where the runner reaches the gateway
    runner_port: int
    folder: str  # of the run, with the tokens
    cup: str
    others: list[str]  # bots that the organiser starts, and which may not connect
    secret: str  # only the runner knows it
    terms: Terms  # of challenges


class GatewayServer:
    """The server to which authors' programs connect, and which the runner asks for bots' moves."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._invitations = Invitations(Path(settings.folder))
        self._bots = defaultdict[str, ConnectedBot](lambda: ConnectedBot(self._invitations))
        self._challenges = Challenges(self._bots, settings.terms)
        self._over = ""
        self._excluded: dict[str, str] = {}

    def listen(self, host: str, port: int) -> Server:
        """Return an asynchronous context manager that runs a server for authors' programs. Entering
        the context raises OSError if the address cannot be used."""
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
        return self._over or self._excluded.get(name, "")

    def _program(self, headers: Headers) -> Program:
        scheme, _, token = _header(headers, "Authorization").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenRefused("Send the token of the bot: stich connect URL --token TOKEN.")
        token_hash = hash_of(token.strip())
        name = self._invitations.bot_of(token_hash)
        if name in self._settings.others:
            raise TokenRefused("The organiser of the cup starts this bot; it need not connect.")
        tables = _header(headers, "X-Stich-Tables")
        if tables not in map(str, range(1, MAX_TABLES + 1)):
            raise TokenRefused(f"The number of tables must be from 1 to {MAX_TABLES}.")
        challenges = _header(headers, "X-Stich-Challenges") == "1"
        opponent = unquote(_header(headers, "X-Stich-Opponent"))
        return Program(name, token_hash, int(tables), challenges, opponent)

    def _refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the answer to /healthz, or a refusal. If the program may connect, note what its
        headers say in `connection`, which must be a `Link`, and return None."""
        link = cast(Link, connection)
        if request.path == "/healthz":
            return link.respond(200, json.dumps({"status": "ok"}))
        try:
            link.program = self._program(request.headers)
        except TokenRefused as error:
            response = link.respond(401, json.dumps({"detail": str(error)}))
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        except StoreError:  # the runner tells the organiser
            why = "The arena cannot read its tokens now; try again later."
            return link.respond(503, json.dumps({"detail": why}))
        link.let_in()
        return None

    async def _serve(self, connection: ServerConnection) -> None:
        link, request = cast(Link, connection), cast(Request, connection.request)
        name = link.program.bot
        why = self._why_over(name)
        with suppress(ConnectionClosed, StoreError):
            if request.path == "/challenge":
                if why:
                    await link.send(json.dumps({"refused": why}))
                else:
                    await self._challenges.serve(link)
                return
            await link.send(json.dumps({"cup": self._settings.cup, "bot": name}))
            if why:
                await link.send(json.dumps({"over": why}))
            else:
                await self._bots[name].serve(link)

    async def listen_to_runner(self, host: str, port: int) -> asyncio.Server:
        """Listen for the runner, and for its workers on other machines. Return the server.

        Raises:
            OSError: if the address cannot be used.
        """

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer), suppress(*_WRONG):
                while answer := await self._answer_runner(reader):
                    writer.write(answer.data)
                    if not answer.complete:
                        break

        return await asyncio.start_server(serve, host, port)

    async def _answer_runner(self, reader: asyncio.StreamReader) -> BotAnswer | None:
        """Read the runner's next request, carry it out, and return the answer. Return None, to
        close the connection, if the secret is wrong, the bot is away or the runner no longer waits.

        Raises:
            EOFError, OSError, LimitOverrunError or ValueError: if no valid request arrives.
            StoreError: if a bot is asked and the file of tokens cannot be read.
        """
        head = await reader.readuntil(b"\r\n\r\n")
        method, path, _ = head.decode("latin-1").split(" ", 2)
        _, secret, which, name, *rest = [*path.split("/", 4), "", ""]
        if secret != self._settings.secret:
            return None
        length = _LENGTH.search(head)
        body = await reader.readexactly(int(length[1]) if length else 0)
        if which == "bots" and name:
            return await _ask(reader, self._bots[unquote(name)], f"{method} /{rest[0]}", body)
        if which == "bots":
            try:
                return _reply({name: bot.present for name, bot in self._bots.items()})
            except StoreError as error:
                return _reply({"detail": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
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


def _header(headers: Headers, name: str) -> str:
    values = headers.get_all(name)
    if len(values) > 1:
        raise TokenRefused(f"The header {name} was sent {len(values)} times; send it once.")
    return values[0] if values else ""


async def _ask(
    reader: asyncio.StreamReader, bot: ConnectedBot, call: str, body: bytes
) -> BotAnswer | None:
    """Return a bot's answer to a request. Return None if the bot is away, its session is ended, or
    the runner, from which `reader` reads, no longer waits.

    Raises:
        StoreError: if the file of tokens cannot be read.
    """
    asked = asyncio.ensure_future(bot.ask(call, body))
    gone = asyncio.ensure_future(reader.read(1))  # the runner sends nothing while it waits
    waiting = (asked, gone)
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    answer = asked.result() if asked.done() else None
    for future in waiting:
        future.cancel()
    await asyncio.wait(waiting)
    return answer


def _sentences(body: bytes) -> dict[str, str]:
    return msgspec.json.decode(body, type=dict[str, str])


def _reply(value: object, status: HTTPStatus = HTTPStatus.OK) -> BotAnswer:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Length: {len(body)}\r\n\r\n"
    return BotAnswer(head.encode("ascii") + body, True)


async def _run(host: str, port: int, settings: GatewaySettings) -> None:
    # Strangers may fail to connect; websockets 16 takes that for an error.
    logging.getLogger("websockets.server").addFilter(
        lambda record: record.msg != "opening handshake failed"
    )
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # programs may leave at any time
    gateway = GatewayServer(settings)
    async with (
        await gateway.listen_to_runner(settings.runner_host, settings.runner_port),
        gateway.listen(host, port) as server,
    ):
        await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(_run(*begin(CONNECTIONS, GatewaySettings)))
