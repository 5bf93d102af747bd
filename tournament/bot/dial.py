"""How a connection to a bot is opened: by address, by URL, or into a sandbox."""

from __future__ import annotations

import errno
import socket
import ssl
import threading
from collections.abc import Callable
from queue import Empty, Queue
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

Dial = Callable[[float], socket.socket]
"""Opens a connection before a deadline (time.monotonic); OSError if it cannot."""

_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
_NO_TLS_SAYS = "it does not speak TLS; perhaps its URL begins with http://"

_Address = tuple[Any, Any, int, str, Any]  # as socket.getaddrinfo returns them


def seconds_left(deadline: float) -> float:
    """Seconds until a deadline; TimeoutError when there are none."""
    seconds = deadline - monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def dial_inet(address: tuple[Any, ...], family: int, tls_name: str | None = None) -> Dial:
    """Connect to a resolved address; by TLS if the name in the certificate is given."""
    context = ssl.create_default_context() if tls_name is not None else None

    def dial(deadline: float) -> socket.socket:
        plain = _connect(socket.socket(family, socket.SOCK_STREAM), address, deadline)
        if context is None:
            return plain
        tls = context.wrap_socket(plain, server_hostname=tls_name, do_handshake_on_connect=False)
        try:
            tls.settimeout(seconds_left(deadline))
            tls.do_handshake()  # the timeout bounds the whole handshake
        except BaseException as error:
            tls.close()
            if isinstance(error, ssl.SSLError) and error.reason in _NO_TLS:
                raise ConnectionError(errno.EPROTO, _NO_TLS_SAYS) from None
            raise
        return tls

    return dial


def dial_through(
    control: socket.socket, address: tuple[str, int], deadline: float
) -> socket.socket:
    """Connect into a sandbox: its proxy hands out a socket, which is connected here."""
    control.settimeout(seconds_left(deadline))
    control.sendall(b"C")
    _, passed, _, _ = socket.recv_fds(control, 1, 1)
    if not passed:
        raise ConnectionError(errno.EPIPE, "Its sandbox has ended")
    inner = socket.socket(fileno=passed[0])
    if (inner.family, inner.type) != (socket.AF_INET, socket.SOCK_STREAM):
        inner.close()
        raise ConnectionError(errno.EPROTO, "Its sandbox handed out something else")
    return _connect(inner, address, deadline)


def _connect(sock: socket.socket, address: tuple[Any, ...], deadline: float) -> socket.socket:
    try:
        sock.settimeout(seconds_left(deadline))
        sock.connect(address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


def dial_each(dials: list[Dial]) -> Dial:
    """Connect to the first of several addresses that accepts; it is tried first from then on."""

    def dial(deadline: float) -> socket.socket:
        refused: OSError = ConnectionRefusedError("no address")
        for index, one in enumerate(dials):
            try:
                found = one(deadline)
            except TimeoutError:
                raise
            except OSError as error:
                refused = error
                continue
            dials.insert(0, dials.pop(index))
            return found
        raise refused

    return dial


def dial_url(url: str, seconds: float = 10) -> Dial:
    """Connect to a bot by URL. The host's name is looked up once, here, within `seconds`;
    OSError if there is no such host or the look-up takes longer."""
    parts = urlsplit(url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    return dial_each(
        [
            dial_inet(address, family, host if tls else None)
            for family, _, _, _, address in _look_up(host, port, seconds)
        ]
    )


def _look_up(host: str, port: int, seconds: float) -> list[_Address]:
    """The addresses of a host. The system's look-up takes no deadline, so a thread waits for it."""
    found: Queue[list[_Address] | OSError] = Queue()

    def look_up() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            found.put(error)
        except UnicodeError:
            found.put(OSError(errno.EINVAL, "not the name of a host"))

    threading.Thread(target=look_up, daemon=True).start()
    try:
        answer = found.get(timeout=seconds)
    except Empty:
        why = f"its name was not resolved within {seconds:g} s"
        raise TimeoutError(errno.ETIMEDOUT, why) from None
    if isinstance(answer, OSError):
        raise answer
    return answer
