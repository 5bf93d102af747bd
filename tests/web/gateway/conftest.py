from collections.abc import Iterator

import pytest

from tests.support.web.gateways import Gateway, served


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with served(tmp_path_factory.mktemp("run")) as opened:
        yield opened
