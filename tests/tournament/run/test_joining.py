"""Bots join a ladder and leave it while the runner is another process."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import stich, succeed
from tournament.config.cup import JoinRules
from tournament.decisions import excluded
from tournament.records import Finish, Join, Leave, Undo, Withdraw
from tournament.run.joining import JoinRefused, join, leave
from tournament.store.store import Store

RULES = JoinRules(open=True, per_author=2, most=4)
LADDER = replace(played.cup(["greedy"], format="ladder"), join=RULES)


@pytest.fixture
def target(tmp_path: Path) -> str:
    played.unfinished(tmp_path, LADDER).close()
    return str(tmp_path)


def enter(target: str, bot: str, author: str = "a") -> str:
    """Let a bot join. The reason why it cannot, or "" if it has joined."""
    try:
        join(target, LADDER, bot, author)
    except JoinRefused as error:
        return str(error)
    return ""


def test_only_one_of_many_gets_a_name_at_once(target: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        refusals = list(pool.map(lambda i: enter(target, "ann", f"author {i}"), range(8)))
    assert refusals.count("") == 1
    assert sum("looks like it; choose another" in refusal for refusal in refusals) == 7


def test_a_bot_cannot_leave_twice_nor_join_after_the_end(target: str) -> None:
    with pytest.raises(JoinRefused, match="There is no bot ann here"):
        leave(target, LADDER, "ann")
    enter(target, "ann")
    leave(target, LADDER, "ann")
    with pytest.raises(JoinRefused, match="ann no longer plays"):
        leave(target, LADDER, "ann")
    with Store.open(target) as store:
        store.decide(Finish())
    assert "The ladder is over" in enter(target, "bob")


def test_undo_does_not_reverse_that_an_author_left(target: str) -> None:
    for name in ("ann", "bob"):
        enter(target, name)
    with Store.open(target) as store:
        store.decide(Withdraw(bot="ann"), Leave(bot="bob"), Undo(bot="ann"))
        assert excluded(store.decisions()).keys() == {"bob"}


def test_the_organiser_can_invite_bots_to_a_ladder_any_time(tmp_path: Path) -> None:
    file, out = tmp_path / "ladder.toml", tmp_path / "run"
    file.write_text(
        'name = "Autumn"\ngame = "doudizhu"\n[format]\ntype = "ladder"\n'
        '[[bots]]\nname = "greedy"\ncommand = "python -m bots.greedy"\n'
    )
    for name in ("ann", "bob", "ann"):
        succeed("invite", file, name, "--out", out)
    with Store.open(out) as store:
        assert [join.bot for join in store.decisions() if isinstance(join, Join)] == ["ann", "bob"]
    for words, said in (
        (("invite", file, "a" * 33), "1 to 32"),
        (("invite", file, "eve", "--revoke"), "no bot 'eve'"),
        (("run", file), "is a ladder; run it with: stich arena"),
    ):
        done = stich(*words, "--out", out)
        assert (done.returncode, said in done.stderr) == (2, True)
