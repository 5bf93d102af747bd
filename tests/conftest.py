"""Hypothesis profiles, the number of parallel workers, and a state folder for all tests.

The examples of Hypothesis are the same in every run, except in `make fuzz`, so a failing build is
due to the change and not to chance. When `make fuzz` finds a counterexample, write a test for it.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Tests send Ctrl-C, which a process in the background and its children would ignore.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("long", derandomize=True, max_examples=1_000)
settings.register_profile("fuzz", max_examples=2_000, print_blob=True)
settings.load_profile("fixed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Use one worker more than cores, because many tests wait for programs that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give all tests the same signing key, from which the ids of matches follow."""
    from tournament.paths import KEY_FILE, state_folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        state_folder().mkdir(mode=0o700)
        (state_folder() / KEY_FILE).write_text("5eed" * 16)
        (state_folder() / KEY_FILE).chmod(0o600)
        yield
