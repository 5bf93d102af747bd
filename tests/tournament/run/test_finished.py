"""Which matches of a run are finished."""

from tournament.run.finished import FinishedMatches


def test_what_is_missing_of_a_block() -> None:
    finished = FinishedMatches()
    assert finished.missing(5, 3) == (0, 1, 2)
    finished.add(5, 1, 3)
    assert finished.missing(5, 3) == (0, 2)
    finished.add(5, 2, 3)
    finished.add(5, 0, 3)
    finished.add(2, 0, 3)
    assert finished.missing(5, 3) == ()
    assert finished.missing(2, 3) == (1, 2)
    assert finished.missing(4, 1) == (0,)
    assert finished.missing(10**9, 1) == (0,)
    assert finished.count == 4
