"""The connection between an author's program and the gateway."""

import asyncio
from collections import defaultdict
from time import monotonic
from typing import ClassVar, Final

from websockets.asyncio.server import ServerConnection
from websockets.protocol import Event

from web.gateway.addresses import network_of, parse_address
from web.gateway.calls import ALIVE_S

CONNECTIONS: Final = 5000
STRANGERS: Final = 64  # connections from an address that have not shown a valid token
MAX_TABLES: Final = 64  # of a bot
_USELESS: Final = 4 * MAX_TABLES
_FORGIVEN_A_S: Final = 8 / ALIVE_S  # frames other than answers, such as pongs
_PIECE: Final = 1024


class Link(ServerConnection):
    """The connection of an author's program.

    A new connection is closed if 5,000 are open already. A connection is also closed if its program
    sends frames other than answers too fast. If more than 64 connections from an address (or a /64
    network of IPv6) have not shown a valid token, the oldest of them is closed.
    """

    _open: ClassVar[set["Link"]] = set()
    _strangers: ClassVar[dict[str, dict["Link", None]]] = defaultdict(dict)  # by address, in order
    _address = ""
    _useless = 0.0  # received frames, not counting answers to requests and what was forgiven
    _counted_at = 0.0

    @property
    def flooded(self) -> bool:
        """Whether the program has sent frames other than answers too fast."""
        return self._useless > _USELESS

    def answered(self) -> None:
        """Exempt one frame from counting as flooding: an answer that has come or may still come,
        or a request that has been answered."""
        self._useless -= 1

    def let_in(self) -> None:
        """Stop counting this connection among those that have not shown a valid token."""
        strangers = self._strangers[self._address]
        strangers.pop(self, None)
        if not strangers:
            del self._strangers[self._address]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # noqa: D102 - as of websockets
        super().connection_made(transport)
        host, *_ = transport.get_extra_info("peername")
        self._address = network_of(parse_address(host))
        strangers = self._strangers[self._address]
        strangers[self] = None
        if len(strangers) > STRANGERS:
            oldest = next(iter(strangers))
            del strangers[oldest]
            oldest.transport.abort()
        self._open.add(self)
        if len(self._open) > CONNECTIONS:
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: D102 - as of websockets
        super().connection_lost(exc)
        self._open.discard(self)
        self.let_in()

    def data_received(self, data: bytes) -> None:  # noqa: D102 - as of websockets
        for start in range(0, len(data), _PIECE):  # one read may bring 40,000 pings
            if not self.transport.is_closing():
                super().data_received(data[start : start + _PIECE])

    def process_event(self, event: Event) -> None:  # noqa: D102 - as of websockets
        super().process_event(event)
        now = monotonic()
        forgiven = (now - self._counted_at) * _FORGIVEN_A_S
        self._useless += 1 - min(max(0, self._useless), forgiven)
        self._counted_at = now
        if self.flooded:
            self.transport.abort()
