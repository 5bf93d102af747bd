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
        with pytest.raises(ClickException, match=f"^Port {port} of 127.0.0.1 is in use; .*[.]$"):
            find_port("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "message"),
    [("192.0.2.1", "^Cannot listen on 192.0.2.1: .*[.]$"), ("no host", "^no host is not an addr")],
)
def test_an_unusable_address_is_one_sentence(host: str, message: str) -> None:
    with pytest.raises(ClickException, match=message) as raised:
        find_port(host, 0)
    assert "--host 127.0.0.1" in raised.value.message
