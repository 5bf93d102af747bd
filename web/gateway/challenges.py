"""The gateway's side of challenges, in which an author plays against a connected bot, unranked.

The challenger's program opens a WebSocket at /challenge, with the headers of its own bot (see
`server`) and the percent-encoded name of the other bot as `X-Stich-Opponent`. The gateway answers
with an `Opponent` or `{"refused": WHY}` in JSON. Then each `Request` of the program gets an
`Answer`.
"""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Final

import msgspec

from tournament.errors import StichError
from tournament.names import base
from web.gateway.calls import ALIVE_S, CHALLENGE, REQUEST_LIMIT, Asked, Opponent, Request, Terms
from web.gateway.connected_bot import BotAnswer, ConnectedBot, Link

AN_HOUR: Final = 20  # challenges that a bot may begin
AT_ONCE: Final = 16  # challenges that are played through a gateway
_HOUR_S: Final = 3600.0
_LONGEST_S: Final = 1800.0
_CALLS: Final = ("GET /", "POST /start", "POST /move", "POST /end")


class _ChallengeRefused(StichError):
    """A challenge cannot begin. The message says why."""


class Challenges:
    """The challenges that are played through a gateway. At any time, a bot is the challenger in at
    most one challenge, and the challenged bot in at most one."""

    def __init__(self, bots: Mapping[str, ConnectedBot], terms: Terms) -> None:
        self._bots = bots
        self._terms = terms
        self._playing: dict[str, str] = {}  # the challenger of each challenged bot
        self._begun: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=AN_HOUR))

    async def serve(self, link: Link) -> None:
        """Challenge the opponent that the program's headers name, and pass requests from the
        program on to that bot for at most 30 minutes. If the bot does not answer a request, pass on
        an empty answer.

        A name without a version stands for the newest version that is connected. If the challenge
        is refused or takes too long, or a request is not valid, tell the program why, and return.

        Raises:
            ConnectionClosed: if the challenger leaves.
            StoreError: if the file of tokens cannot be read.
        """
        challenger = link.program.bot
        try:
            opponent = self._begin(challenger, link.program.opponent)
        except _ChallengeRefused as refused:
            return await link.send(json.dumps({"refused": str(refused)}))
        try:
            # The bot is started before the clock of the first match runs.
            await self._ask(opponent, "GET /", b"")
            hello = Opponent(opponent, challenger, self._terms)
            await link.send(msgspec.json.encode(hello).decode())
            link.protocol.max_message_size = REQUEST_LIMIT
            async with asyncio.timeout(_LONGEST_S):
                await self._pass_on(link, opponent)
        except TimeoutError:
            why = f"A challenge takes at most {_LONGEST_S / 60:.0f} minutes; begin another one."
            await link.send(json.dumps({"refused": why}))
        except msgspec.DecodeError:
            await link.send(json.dumps({"refused": "That was no request of `stich challenge`."}))
        finally:
            del self._playing[opponent]

    def _begin(self, challenger: str, name: str) -> str:
        """Register a challenge, which `serve` removes at the end, and return the full name of the
        challenged bot. `name` may lack the version (see `serve`). The challenge counts towards the
        challenger's 20 challenges per hour.

        Raises:
            _ChallengeRefused: if a challenge cannot begin now.
            StoreError: if the file of tokens cannot be read.
        """
        now = asyncio.get_running_loop().time()
        present = [bot for bot, connected in self._bots.items() if connected.present]
        versions = [name] if name in present else [bot for bot in present if base(bot) == name]
        begun = self._begun[challenger]
        if not versions:
            raise _ChallengeRefused(
                f"{name} is not connected now. The first page of the arena lists the bots; try"
                " again once the bot is there."
            )
        opponent = max(versions, key=lambda bot: (len(bot), bot))  # "ann/10" after "ann/9"
        playing = self._playing
        in_an_hour = len(begun) == AN_HOUR and now < begun[0] + _HOUR_S
        refusals = {
            f"{challenger} is your own bot; challenge another one.": opponent == challenger,
            f"{opponent} takes no challenges: its author has declined them, or it runs by --url and"
            " cannot be started once more.": not self._bots[opponent].takes_challenges,
            f"{opponent} is playing a challenge; try again in some minutes.": opponent in playing,
            f"{challenger} is playing another challenge; wait until that has ended.": challenger
            in playing.values(),
            f"{AT_ONCE} challenges are being played here, which is the most; try again in some"
            " minutes.": len(playing) >= AT_ONCE,
            f"{challenger} has begun {AN_HOUR} challenges within an hour, which is the most; try"
            " again later.": in_an_hour,
        }
        for why, refused in refusals.items():
            if refused:
                raise _ChallengeRefused(why)
        begun.append(now)
        playing[opponent] = challenger
        return opponent

    async def _pass_on(self, link: Link, opponent: str) -> None:
        while True:
            message = await link.recv()
            data = message if isinstance(message, bytes) else b""  # not a request
            number, call, body = msgspec.msgpack.decode(data, type=Request)
            if call not in _CALLS:
                raise msgspec.DecodeError
            answer = await self._ask(opponent, call, body) or BotAnswer(b"", False)
            await link.send(msgspec.msgpack.encode((number, answer.data, answer.complete)))
            link.answered()

    async def _ask(self, opponent: str, call: str, body: bytes) -> BotAnswer | None:
        """Return the challenged bot's answer. Return None if the bot is away, its session is ended,
        it no longer takes challenges, or its answer is more than 5 seconds later than `body` allows
        (see `Asked.seconds`).

        Raises:
            msgspec.DecodeError: if the body is not valid.
            StoreError: if the file of tokens cannot be read.
        """
        asked = msgspec.json.decode(body or b"{}", type=Asked)
        bot = self._bots[opponent]
        if not bot.takes_challenges:
            return None
        try:
            async with asyncio.timeout(asked.seconds + ALIVE_S):
                return await bot.ask(CHALLENGE + call, body)
        except TimeoutError:
            return None
