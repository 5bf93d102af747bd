"""The example of a new format in docs/architecture.md plays, resumes and is verified."""

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament import played
from tests.support.tournament.one_table import OneTable, Organiser, Stopped, stop
from tournament import formats
from tournament.formats import Format
from tournament.results.standings import standings
from tournament.results.verify import verify
from tournament.run.resume import resume
from tournament.run.roster import Roster
from tournament.run.session import Session
from tournament.store.store import Store

PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"


@pytest.fixture
def relay(monkeypatch: pytest.MonkeyPatch) -> type[Format]:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "relay"}
    exec(example, names)
    kind: type[Format] = names["Relay"]
    monkeypatch.setitem(formats.FORMATS, kind.type, kind)
    return kind


def test_a_new_format_is_one_file_and_one_line(tmp_path: Path, relay: type[Format]) -> None:
    names = ["ann", "bob", "cat", "dan", "eve", "fay"]
    cup = replace(played.cup(names), format=relay(deals=1))  # type: ignore[call-arg]
    with Store.create(tmp_path) as store:
        for after in ({7: stop}, {}):
            plan = resume(store, cup)
            with (
                suppress(Stopped),
                Session(
                    plan, Roster(cup), OneTable(cup), store, Organiser(store, after)
                ) as session,
            ):
                session.play()
        assert verify(store).mismatches == []
        assert store.count() == plan.matches == 3 * 2 * 3
        assert standings(store).format == "relay"
        stages = {match.stage for match in store.summaries()}
    assert stages == {"lap 1", "lap 2", "lap 3"}
