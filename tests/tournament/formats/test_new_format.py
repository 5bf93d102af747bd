"""The example of a new format in docs/architecture.md plays, resumes and is verified."""

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament.one_table import Stopped, play, stop
from tests.support.tournament.played import cup, unfinished
from tournament import formats
from tournament.results.standings import standings
from tournament.results.verify import verify

PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"


def test_a_format_is_one_file_and_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "relay"}
    exec(example, names)
    monkeypatch.setitem(formats.FORMATS, "relay", names["Relay"])
    relay = replace(cup(["ann", "bob", "cat", "dan", "eve", "fay"]), format=names["Relay"](deals=1))
    with unfinished(tmp_path, relay) as store:
        for after in ({7: stop}, {}):
            with suppress(Stopped):
                play(store, relay, after)
        assert verify(store).mismatches == []
        assert store.count() == store.run().total == 3 * 2 * 3
        assert standings(store).format == "relay"
        assert {match.stage for match in store.summaries()} == {"lap 1", "lap 2", "lap 3"}
