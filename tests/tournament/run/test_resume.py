"""A run is resumed with the same cup, or with a changed one if its results allow."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import bot, standings, stich, toys, write
from tests.tournament.run.conftest import BOTS, STOP
from tournament.config.cup import Bot, Clock, Cup, Limits
from tournament.config.parse import parse_cup, read_cup
from tournament.formats.round_robin import RoundRobin
from tournament.results.verify import verify
from tournament.run.resume import differences, resume
from tournament.store.store import Store, StoreError


def test_a_changed_cup_is_refused_with_what_differs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with begun(tmp_path, read_cup(write(tmp_path, toys(3), deals=2))):
        before = standings(run)
    bots = {**toys(2), "toy2": bot("honest")}
    done = stich("run", write(tmp_path, bots, "[faults]\nstrikes = 1", deals=1), "--out", run)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    for key in ("faults.strikes was 3 and is 1", "format.deals was 2", 'command of "toy2" was "'):
        assert key in done.stderr
    assert standings(run) == before


def test_a_cup_that_never_played_may_be_fixed(tmp_path: Path) -> None:
    """Its seed stays, unless another one is named."""
    cup = replace(played.cup(commit=True), seed=None)
    fixed = replace(cup, bots=played.cup(BOTS).bots, sandbox=True, clock=Clock(7, 7, 7))
    with Store.create(tmp_path / "run") as store:
        seed = resume(store, cup).setup.seed
        committed = store.run().commitment
        assert resume(store, fixed).setup.seed == seed
        run = store.run()
        assert (run.commitment, run.cup.sandbox, run.cup.names) == (committed, True, BOTS)
        named = resume(store, replace(cup, seed="named")).setup.seed
        assert named == store.run().seed
        assert named.startswith("named:")
        assert store.run().commitment != committed
        assert resume(store, cup).setup.seed not in (named, seed)


def test_a_key_that_decides_no_result_may_change() -> None:
    cup = played.cup()
    assert not differences(cup, replace(cup, clock=Clock(start_ms=60_000), limits=Limits(64, 99)))
    assert differences(cup, replace(cup, clock=Clock(move_ms=7)))
    other = replace(cup, game="dasan", options={"open_higher": True})
    assert "options.open_higher was true and is not set" in differences(other, cup)
    assert "format.rounds was 2 and is not set" in differences(played.cup(format="swiss"), cup)


def filled(*names: str, fill: str | None = "greedy") -> Cup:
    bots = "".join(f'[[bots]]\nname = "{name}"\ncommand = "./{name}"\n' for name in names)
    seats = f'fill = "{fill}"\n' if fill else ""
    return parse_cup(f'name = "x"\ngame = "doudizhu"\nseed = "s"\n{seats}{bots}'.encode(), "c")


def test_a_house_bot_that_has_played_does_not_leave_silently(tmp_path: Path) -> None:
    """The file does not name this bot, so the error says what it is and how to keep it."""
    with begun(tmp_path, filled("ann", "bob")) as store:
        with pytest.raises(StoreError) as error:
            resume(store, filled("ann", "bob", "cat"))
        for part in (
            'the bot "greedy (house)", which filled a seat and has played, would',
            'as [[bots]] name = "greedy (house)", command = "python -m bots.greedy")',
        ):
            assert part in str(error.value)
        kept = filled("ann", "bob", "greedy (house)", "cat", fill=None)
        house = replace(kept.bots[2], command="python -m bots.greedy")
        plan = resume(store, replace(kept, bots=(*kept.bots[:2], house, kept.bots[3])))
        assert plan.blocks == 40
        assert store.run().cup.names == ("ann", "bob", "greedy (house)", "cat")


@contextmanager
def begun(folder: Path, cup: Cup) -> Iterator[Store]:
    with Store.create(folder / "run") as store:
        seed = resume(store, cup).setup.seed
        store.add(next(iter(played.played(replace(cup, seed=seed)))))
        yield store


NAMES = (*BOTS, "eve", "fay")


@pytest.mark.parametrize(
    ("format", "growth", "may_be_added"),
    [
        ("round-robin", {"deals": 9}, "only bots and deals may be added"),
        ("gauntlet", {"deals": 9}, "only bots and deals may be added"),
        ("swiss", {"rounds": 4}, "in a swiss only rounds may be added"),
        ("duel", {"deals": 9}, "only deals may be added to a duel"),
        ("knockout", {}, "nothing may be added to a knockout that has started"),
        ("stop", {"deals": 20}, "with [stop] only deals may be added"),
    ],
)
def test_a_cup_grows_as_its_format_allows(
    tmp_path: Path, format: str, growth: dict[str, Any], may_be_added: str
) -> None:
    names, seating = (NAMES[:2], "mixed") if format == "duel" else (NAMES, "rotations")
    cup = STOP if format == "stop" else played.cup(names, format=format, seating=seating)

    def grow(**keys: Any) -> Cup:
        return replace(cup, format=replace(cup.format, **keys))

    refused = {"faults.strikes was 3 and is 9": replace(cup, strikes=9)}
    if "deals" not in growth:
        refused["format.deals was 2 and is 9"] = grow(deals=9)
    if "bots" not in may_be_added:
        late = Bot("late", command="x")
        refused['bot "late" is new, and '] = replace(cup, bots=(*cup.bots, late))
    with begun(tmp_path, cup) as store:
        for differs, changed in refused.items():
            with pytest.raises(StoreError) as error:
                resume(store, changed)
            assert differs in str(error.value)
            assert str(error.value).endswith(f"; {may_be_added}.")
        longer = grow(**growth)
        assert resume(store, longer).blocks == longer.plan("any", "any").blocks


def test_nothing_is_dealt_from_a_seed_that_was_shown(tmp_path: Path) -> None:
    cup = played.cup(commit=True)
    deals = replace(cup, format=RoundRobin(deals=3))
    bots = replace(cup, bots=(*cup.bots, Bot("dan", url="http://127.0.0.1:9")))
    with begun(tmp_path, cup) as store:
        store.finish()
        for grown in (deals, bots):
            with pytest.raises(StoreError, match=r"seed was shown.*a new cup: "):
                resume(store, grown)
        assert store.run().finished
        assert resume(store, replace(cup, limits=Limits(64, 99))).blocks == 2
        store.reopen(6)
        assert resume(store, deals).blocks == 3


def test_matches_without_their_cup_are_reported(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        store.add(next(iter(played.played(played.cup()))))
        with pytest.raises(StoreError, match="has matches, but their cup is missing"):
            resume(store, played.cup())


@pytest.mark.parametrize(("writes", "bots"), [(1, 5), (2, 6)])
def test_a_cup_that_is_killed_as_it_grows_is_old_or_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int, bots: int
) -> None:
    with played.run(tmp_path / "run", played.cup(NAMES[1:], deals=1)) as store:
        numbers = [match.block for match in store.summaries()]
        transactions = [store._write() for _ in range(writes)]
        with monkeypatch.context() as patch, suppress(IndexError):
            patch.setattr(store, "_write", transactions.pop)  # killed where there are no more
            resume(store, played.cup(NAMES, deals=1))
        assert not transactions
        assert len(store.run().cup.bots) == bots
        assert ([match.block for match in store.summaries()] == numbers) == (bots == 5)
        assert verify(store).verified


def test_an_author_may_be_added_later(tmp_path: Path) -> None:
    cup = played.cup()
    with played.run(tmp_path / "run", cup) as store:
        resume(store, replace(cup, bots=tuple(replace(bot, author="Ann") for bot in cup.bots)))
        assert store.run().authors == dict.fromkeys(cup.names, "Ann")
        assert store.run().finished
