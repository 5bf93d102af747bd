"""The addresses servers of this machine listen on."""

from __future__ import annotations

import pytest
from click import ClickException

from stich.processes import find_port


def test_0_is_replaced_by_a_free_port() -> None:
    port = find_port("127.0.0.1", 0)
    assert port
    assert find_port("127.0.0.1", port) == port


@pytest.mark.parametrize("host", ["192.0.2.1", "no host"])
def test_an_unusable_address_is_one_sentence(host: str) -> None:
    with pytest.raises(ClickException, match=f"^Cannot listen on port 0 of {host}: ") as raised:
        find_port(host, 0)
    assert "--host 127.0.0.1" in raised.value.message
