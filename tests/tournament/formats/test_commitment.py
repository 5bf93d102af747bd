from tournament.formats.commitment import commitment, opens, weakness


def test_it_is_the_plain_sha256_of_the_seed() -> None:
    # printf %s 2026-spring | sha256sum
    digest = "7b76738218424149ac347b081af362b9390b10ca3170d22eb269b117f07386a8"
    assert commitment("2026-spring") == digest
    assert opens(digest.upper() + "\n", "2026-spring")


def test_another_seed_does_not_open_it() -> None:
    assert not opens(commitment("2026-spring"), "2026-spring ")
    assert not opens("no digest at all – ♠", "2026-spring")


def test_seeds_beyond_ascii() -> None:
    assert opens(commitment("♠ Frühling 春"), "♠ Frühling 春")


def test_a_short_seed_causes_a_warning() -> None:
    assert "hides only a seed that nobody can guess" in weakness("2026-spring")
    assert "has 11 characters" in weakness("2026-spring")
    assert "has 1 character;" in weakness("x")
    assert weakness("x" * 15)
    assert not weakness("x" * 16)
