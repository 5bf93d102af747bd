"""Names that authors choose: which are refused, and which look like each other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tournament.names import LONGEST, alike, normal, problem


@pytest.mark.parametrize(
    "name", ["a", "Ann-2.1_x", "7", "Zoë", "Straße", "斗地主", "カードさん", "카드", "x" * LONGEST]
)
def test_a_plain_name_is_accepted(name: str) -> None:
    assert problem(normal(name)) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * (LONGEST + 1),
        "ann bob",
        "ann\n",
        "ann\u200b",  # zero width space
        "ann\u00ad",  # soft hyphen
        "\u202enna",  # right-to-left override
        "\u3164",  # an invisible letter
        "ann̸x\u0338",
        "\ud800",
        *["ann/2", ".ann", "<b>", "דנה", "ı", "ɑnn", "аnn"],  # the last "а" is Cyrillic
    ],
)
def test_others_are_refused_with_the_fix(name: str) -> None:
    assert str(problem(normal(name))).endswith("; choose another.")


ALIKE = """\
Ann ann | änn ann | ａｎｎ ann | a-n_n. ann | AlI all | b0b bob | burn bum | ﬁn fin
| カ 力 | リ り | 日 曰 | ソン ンソ | パソコン ハンコソ | 囗 ロ
| 5am Sam | 8ob Bob | 2oo Zoo | cloe doe | bunny bumy"""


@pytest.mark.parametrize(("name", "other"), [pair.split() for pair in ALIKE.split("|")])
def test_a_name_that_looks_like_another_is_found(name: str, other: str) -> None:
    assert alike(normal(name), ["dan", other, "eve"]) == other
    assert alike(normal(name), ["dan", "eve"]) is None


def test_versions_of_one_bot_do_not_exclude_each_other() -> None:
    assert alike("ann/3", ["ann", "ann/2"]) is None
    assert alike("ann/2", ["ann", "ann/2"]) == "ann/2"
    assert alike("Ann/2", ["ann"]) == "ann"


@settings(max_examples=50)
@given(st.text(max_size=LONGEST))
def test_any_text_is_judged_and_found_again(text: str) -> None:
    name = normal(text)
    assert alike(name, [name]) == name
    if problem(name) is None:
        assert alike(name.upper(), [name.lower()]) is not None
