"""Hypothesis profiles, and a state folder of their own for all tests.

The examples are the same in every run, and new ones with `make fuzz`: so a failing build is due to
the change, not to chance. When `make fuzz` finds a counterexample, write a test for it.
"""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Started in the background, pytest and all that it starts would ignore Ctrl-C, which tests send.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("long", derandomize=True, max_examples=1_000)
settings.register_profile("fuzz", max_examples=2_000, print_blob=True)
settings.load_profile("fixed")


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The signing key of the tests, from which the ids of matches follow, is always the same."""
    from tournament.paths import KEY_FILE, state_folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        state_folder().mkdir(mode=0o700)
        (state_folder() / KEY_FILE).write_text("5eed" * 16)
        (state_folder() / KEY_FILE).chmod(0o600)
        yield
