from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tournament.dask import Cluster, cluster


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path) as running:
        yield running
