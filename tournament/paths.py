"""The places where Stich keeps the results of a run and the keys of a user.

Code that starts bots hides these files from them. This module does not import the store, because
SQLAlchemy takes as long to load as everything else together.
"""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
"""The folder that holds this project's packages."""

STORE_FILE = "run.sqlite"
"""The store in a run's folder."""

KEY_FILE = "signing-key"
"""The user's private key, in the state folder."""

TRUSTED_FILE = "trusted-keys"
"""The public keys of others that the user trusts, in the state folder."""


RUNS_FOLDER = "runs"
"""A folder in the state folder, with a file for each run that says what its store must hold."""


def state_folder() -> Path:
    """The user's folder for keys: `$XDG_STATE_HOME/stich`, by default `~/.local/state/stich`.

    Raises:
        RuntimeError: if the user has no home.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):  # by its specification, other values are ignored
        return Path(named, "stich")
    return Path.home() / ".local" / "state" / "stich"
