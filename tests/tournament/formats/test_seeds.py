import random
import uuid

import pytest

from tournament.formats.seeds import commitment, committed_seed, follows, weakness


def test_it_is_the_plain_sha256_of_the_seed() -> None:
    # printf %s 2026-spring | sha256sum
    digest = "7b76738218424149ac347b081af362b9390b10ca3170d22eb269b117f07386a8"
    assert commitment("2026-spring") == digest


def test_a_seed_that_is_committed_to_has_a_drawn_part() -> None:
    for named in ("2026-spring", None):
        seeds = {committed_seed(named), committed_seed(named)}
        assert len(seeds) == 2
        for seed in seeds:
            assert not weakness(seed)
            assert follows(seed, named, committed=True)
    assert not follows(committed_seed("2026-spring"), "2026-spring", committed=False)
    assert not follows("2026-springs", "2026-spring", committed=True)


@pytest.mark.parametrize(
    "seed",
    [
        "x",
        "2026-spring",
        "Spring-Cup-Berlin-2026-11-22",
        "correct horse battery staple",
        "abcdefghijklmnopqrstuvwxyz",
        "0123456789abcdef0123456789abcdef",
        "hunter2hunter2hunter2hunter2hunter2",
    ],
)
def test_a_guessable_seed_causes_a_warning(seed: str) -> None:
    assert "this seed can be guessed" in weakness(seed)


def test_a_random_seed_causes_none() -> None:
    chance = random.Random(0)
    for _ in range(1000):
        assert not weakness(chance.randbytes(16).hex())
        assert not weakness(str(uuid.UUID(bytes=chance.randbytes(16))))
