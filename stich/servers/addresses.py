"""Where servers of this machine listen: free ports, and URLs."""

from __future__ import annotations

import errno
import socket

import click


def find_port(host: str, port: int) -> int:
    """Check that the port is free, and replace 0 by a free port.

    Raises:
        ClickException: the address or port cannot be used; the command exits with 1.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise click.ClickException(
            f"{host} is not an address of this machine ({error.strerror}); try --host 127.0.0.1."
        ) from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        # As the server does: a port counts as free while its last connections are closing.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
            return int(probe.getsockname()[1])
        except OSError as error:
            raise click.ClickException(_explain(host, port, error)) from None


def _explain(host: str, port: int, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"No permission to listen on port {port}; choose one above 1023 with --port."
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use; free it, or choose another with --port."
    return f"Cannot listen on {host}: {error.strerror}; try --host 127.0.0.1."


def url_of(host: str, port: int) -> str:
    """The URL of a server of this machine."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
