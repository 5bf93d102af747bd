"""IP addresses of connections and requests."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")
"""The host names by which a machine reaches only itself."""


def parse_address(text: str) -> IPv4Address | IPv6Address:
    """Return the IP address in `text`, without its zone. An IPv4-mapped IPv6 address becomes IPv4.

    Raises:
        ValueError: if the text is not an address.
    """
    address = ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def network_of(address: IPv4Address | IPv6Address) -> str:
    """Return an IPv4 address as text, or an IPv6 address's /64 network, which has one owner."""
    return str(address) if address.version == 4 else str(IPv6Network((address, 64), strict=False))
