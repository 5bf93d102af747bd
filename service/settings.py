"""The settings of the service, which environment variables can change."""

import os
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

MEBIBYTE: Final = 1024 * 1024
SEAL_KEYS: Final = "STICH_SEAL_KEYS"
MULTIPROC_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"  # where several workers keep their metrics

OTHER_VARIABLES: Final = frozenset(
    {"STICH_HOST", "STICH_PORT", "STICH_WORKERS", "STICH_TOKEN", "STICH_GATEWAY", "STICH_ARENA"}
    | {"STICH_COMPILE", "STICH_ALL_KITS", "STICH_CONTAINERS"}
)
"""The variables that other parts read: the commands, the tests and the build."""


class ConfigError(ValueError):
    """A setting has an invalid value. The text names the setting and says how to fix the value."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The service's settings. Without `seal_keys` there are no sealed games."""

    max_body: int = MEBIBYTE
    seal_keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """By ID, keys of 32 bytes. The first key seals games, and every key opens them."""
    log_format: str = "text"  # or "json"
    access_log: bool = False

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read the settings from environment variables, with defaults for those that are not set.

        Raises:
            ConfigError: if a variable has an invalid value, or `PROMETHEUS_MULTIPROC_DIR` does not
                name a folder that can be written.
        """
        folder = environ.get(MULTIPROC_DIR)
        if folder is not None and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
            raise ConfigError(
                f"{MULTIPROC_DIR} must name an existing folder that can be written; it is"
                f" {folder!r}."
            )
        values: dict[str, Any] = {}
        if SEAL_KEYS in environ:
            values["seal_keys"] = _seal_keys(environ[SEAL_KEYS])
        for variable, (name, pattern, allowed, convert) in _FORMS.items():
            text = environ.get(variable)
            if text is not None:
                if not re.fullmatch(pattern, text):
                    raise ConfigError(f"{variable} must be {allowed}; it is {text!r}.")
                values[name] = convert(text)
        return cls(**values)


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Return, sorted, the names in `environ` that begin with STICH_ but are not read by Stich."""
    known = {*OTHER_VARIABLES, SEAL_KEYS, *_FORMS}
    return sorted(name for name in environ if name.startswith("STICH_") and name not in known)


def temporary_seal_keys() -> str:
    """Return a value for `STICH_SEAL_KEYS` with one key drawn at random."""
    return f"temporary:{b64encode(secrets.token_bytes(32)).decode()}"


def _seal_keys(text: str) -> dict[str, bytes]:
    # The messages never show a key.
    keys: dict[str, bytes] = {}
    for number, part in enumerate(text.split(",") if text.strip() else (), 1):
        name, _, encoded = part.strip().partition(":")
        try:
            key = b64decode(encoded, validate=True)
        except ValueError:
            key = b""
        problem = None
        if not re.fullmatch("[A-Za-z0-9_-]{1,32}", name):
            problem = "its ID must have 1 to 32 letters, digits, _ or -, followed by a colon"
        elif name in keys:
            problem = f"its ID {name} occurs twice"
        elif len(key) != 32:
            problem = f'the text after "{name}:" must be the base64 of 32 bytes'
        if problem:
            raise ConfigError(
                f"{SEAL_KEYS} must be ID:BASE64, or several of these separated by commas. In"
                f" number {number}, {problem}. Make a key with: openssl rand -base64 32"
            )
        keys[name] = key
    return keys


_FORMS: Final[Mapping[str, tuple[str, str, str, Callable[[str], Any]]]] = {
    "STICH_MAX_BODY": (
        "max_body",
        "0*[1-9][0-9]{0,17}",
        f"a number of bytes, at least 1, such as {MEBIBYTE}",
        int,
    ),
    "STICH_LOG_FORMAT": ("log_format", "text|json", "text or json", str),
    "STICH_ACCESS_LOG": ("access_log", "[01]", "0 or 1", "1".__eq__),
}
"""By variable: the setting, the pattern of valid texts, the pattern in words, and the converter."""
