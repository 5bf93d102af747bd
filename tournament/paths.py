"""Where Stich keeps the results of a run and the keys of a user.

Whoever starts bots hides these files from them, and does so without the store: SQLAlchemy takes as
long to load as all the rest.
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
"""What the stores of the user's runs must hold, in the state folder: a file for each run."""


def state_folder() -> Path:
    """The user's folder for keys: `$XDG_STATE_HOME/stich`, by default `~/.local/state/stich`.

    RuntimeError if the user has no home.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):  # by its specification, other values are ignored
        return Path(named, "stich")
    return Path.home() / ".local" / "state" / "stich"
