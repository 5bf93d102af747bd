"""Decisions written from a store, compared with pyarrow alone."""

import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from benchmarks.figures import Figure, Section
from tools.simulation.soft_play import play
from tournament.config.cup import Cup
from tournament.results.files.export import DecisionRow, arrow_schema, decision_rows, export
from tournament.store.store import Store

REPEATED = 5


def sections() -> list[Section]:
    """The section of docs/benchmarks.md."""
    import pyarrow
    from pyarrow import parquet

    schema = arrow_schema(DecisionRow)

    def write(rows: list[dict[str, Any]]) -> None:
        table = pyarrow.Table.from_pylist(rows, schema=schema)
        parquet.write_table(table, io.BytesIO(), compression="zstd")

    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder)) as store:
        for match in play("doudizhu", 0, 1):
            store.add(match)
        store.begin(Cup("Decisions", "doudizhu", 3, ()), "seed", "key", None, store.count())
        store.finish()

        def make_rows() -> list[dict[str, Any]]:
            return [asdict(row) for match in store.matches() for row in decision_rows(match)]

        rows = make_rows()
        ours = _seconds(lambda: export(store, "decisions", io.BytesIO()))
        made = _seconds(lambda: write(make_rows()))
        ready = _seconds(lambda: write(rows))
    how = (
        f"{len(rows)} decisions of Dou Dizhu as Parquet, from the store: each match is dealt and"
        " played again for what the seats saw and could do. pyarrow has all rows in memory; in the"
        " second row they need not be made first."
    )
    peers = (("pyarrow, rows made", made, 0.5), ("pyarrow, rows ready", ready, None))
    figures = [
        Figure.more("decisions", len(rows) / ours, peer, len(rows) / spent, "rows/s", aim)
        for peer, spent, aim in peers
    ]
    return [Section("Decisions", how, figures)]


def _seconds(work: Callable[[], object]) -> float:
    """The shortest processor time, in seconds, that the work took in several tries."""
    spent = []
    for _ in range(REPEATED):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)
