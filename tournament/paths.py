"""The places where Stich keeps the results of a run and the keys of a user, hidden from bots.

This module does not import the store, because SQLAlchemy takes long to load.
"""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
"""The folder that holds this project's packages."""

STORE_FILE = "run.sqlite"
"""The name of the store in a run's folder."""

LOCK_FILE = "run.lock"
"""The name of the file in a run's folder that a runner locks."""

KEY_FILE = "signing-key"
"""The name of the user's private key in the state folder."""


def state_folder() -> Path:
    """Return the user's folder for keys, which need not exist: `$XDG_STATE_HOME/stich`, by default
    `~/.local/state/stich`.

    Raises:
        RuntimeError: if `$XDG_STATE_HOME` is not an absolute path and the user has no home folder.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):  # by its specification, other values are ignored
        return Path(named, "stich")
    return Path.home() / ".local" / "state" / "stich"
