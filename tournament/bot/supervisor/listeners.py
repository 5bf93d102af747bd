"""Who listens at a port of this machine."""

from __future__ import annotations

import contextlib


def listeners(port: int) -> set[str]:
    """The sockets that listen where a connection to 127.0.0.1 at a port would arrive: those of the
    narrowest address, IPv4 before IPv6, as the kernel chooses."""
    found: dict[tuple[str, str], set[str]] = {}
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open(f"/proc/net/{table}") as file:
            next(file)
            for line in file:
                row = line.split()
                if row[3] != "0A":
                    break  # those that listen come first
                address, _, number = row[1].rpartition(":")
                if int(number, 16) == port:
                    found.setdefault((table, address), set()).add(f"socket:[{row[9]}]")
    loopback, mapped = "0100007F", "0" * 16 + "FFFF00000100007F"
    for place in (("tcp", loopback), ("tcp6", mapped), ("tcp", "0" * 8), ("tcp6", "0" * 32)):
        if place in found:
            return found[place]
    return set()
