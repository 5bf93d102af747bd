"""The addresses servers of this machine listen on."""

from __future__ import annotations

import socket

import pytest
from click import ClickException

from stich.processes import find_port


def test_0_is_replaced_by_a_free_port() -> None:
    port = find_port("127.0.0.1", 0)
    assert port
    assert find_port("127.0.0.1", port) == port


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            ClickException, match=f"^Cannot listen on port {port} of 127.0.0.1: Addr"
        ):
            find_port("127.0.0.1", port)


@pytest.mark.parametrize("host", ["192.0.2.1", "no host"])
def test_an_unusable_address_is_one_sentence(host: str) -> None:
    with pytest.raises(ClickException, match=f"^Cannot listen on port 0 of {host}: ") as raised:
        find_port(host, 0)
    assert "--host 127.0.0.1" in raised.value.message
