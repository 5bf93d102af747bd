"""From where a connection or a request comes."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address


def parse_address(text: str) -> IPv4Address | IPv6Address:
    """Return an address without its zone, and an IPv4 address in IPv6 form as IPv4.

    Raises:
        ValueError: if the text is no address.
    """
    address = ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def network_of(address: IPv4Address | IPv6Address) -> str:
    """The address itself, or for IPv6 the network whose addresses all belong to one customer."""
    return str(address) if address.version == 4 else str(IPv6Network((address, 64), strict=False))
