"""The settings of the service: from environment variables or from `create_app(config)`."""

from __future__ import annotations

import os
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Self

PREFIX: Final = "STICH_"
MEBIBYTE: Final = 1024 * 1024
SEAL_KEYS: Final = PREFIX + "SEAL_KEYS"
MULTIPROC_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder in which several workers keep their metrics."""


OTHER_VARIABLES: Final = frozenset(
    PREFIX + name
    for name in ("HOST", "PORT", "WORKERS", "TOKEN", "GATEWAY", "ARENA", "COMPILE", "ALL_KITS")
)
"""Variables that the commands read, or the tests and the build."""


class ConfigError(ValueError):
    """A setting has an invalid value; the text says which one, and how to fix it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The service's settings.

    `max_body` is in bytes; `cors_origins` are the origins whose pages may call the service,
    `("*",)` for all of them; `seal_keys` are the keys of sealed states by ID, 32 bytes each: the
    first seals, all of them open. `log_format` is "text" or "json", for errors and, if `access_log`
    is set, for a line about every request.
    """

    max_body: int = MEBIBYTE
    cors_origins: tuple[str, ...] = ("*",)
    seal_keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    log_format: str = "text"
    access_log: bool = False

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the environment; raises ConfigError if a variable is invalid."""
        if environ is None:
            environ = os.environ
        _check_metrics_folder(environ.get(MULTIPROC_DIR))
        names = {one.name: PREFIX + one.name.upper() for one in fields(cls)}
        return cls().changed(
            {name: environ[variable] for name, variable in names.items() if variable in environ}
        )

    def changed(self, values: Mapping[str, Any]) -> Self:
        """These settings with some replaced; text is parsed like an environment variable."""
        known = {one.name for one in fields(self)}
        if unknown := sorted(values.keys() - known):
            raise ConfigError(
                f"Unknown setting {unknown[0]!r}; the settings are {', '.join(sorted(known))}."
            )
        changes = dict(values)
        if "max_body" in changes:
            changes["max_body"] = _bytes(changes["max_body"])
        if "cors_origins" in changes:
            changes["cors_origins"] = _origins(changes["cors_origins"])
        if "seal_keys" in changes:
            changes["seal_keys"] = _seal_keys(changes["seal_keys"])
        if "log_format" in changes:
            changes["log_format"] = _one_of("LOG_FORMAT", changes["log_format"], ("text", "json"))
        if "access_log" in changes:
            chosen = _one_of("ACCESS_LOG", changes["access_log"], ("0", "1", "False", "True"))
            changes["access_log"] = chosen in ("1", "True")
        return replace(self, **changes)


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """The variables that look like settings of the service but are none, such as misspelt ones."""
    known = {PREFIX + one.name.upper() for one in fields(Settings)} | OTHER_VARIABLES
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in known)


def temporary_seal_keys() -> str:
    """A value of `STICH_SEAL_KEYS` with a key drawn at random."""
    return f"temporary:{b64encode(secrets.token_bytes(32)).decode()}"


def _check_metrics_folder(folder: str | None) -> None:
    if folder is not None and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        raise ConfigError(
            f"{MULTIPROC_DIR} must name an existing folder that can be written; it is {folder!r}."
        )


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> str:
    if str(value) not in allowed:
        choices = " or ".join(allowed[:2])
        raise ConfigError(f"{PREFIX}{name} must be {choices}; it is {value!r}.")
    return str(value)


def _bytes(value: object) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if number < 1:
        raise ConfigError(
            f"{PREFIX}MAX_BODY must be a number of bytes, at least 1, such as {MEBIBYTE}; it is"
            f" {value!r}."
        )
    return number


def _origins(value: str | Iterable[object]) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    origins = tuple(str(part).strip() for part in parts if str(part).strip())
    for origin in origins:
        if origin != "*" and "://" not in origin:
            raise ConfigError(
                f"{PREFIX}CORS_ORIGINS must be * or a comma-separated list of origins, such as"
                f" https://example.org, not {origin!r}."
            )
    return origins


def _seal_keys(text: str) -> dict[str, bytes]:
    """Parse `ID:BASE64,ID:BASE64`; a message never shows a key."""
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
            problem = f"the text after {name}: must be the base64 of 32 bytes"
        if problem:
            raise ConfigError(
                f"{PREFIX}SEAL_KEYS must be ID:BASE64, or several of these separated by commas. In"
                f" number {number}, {problem}. Make a key with: openssl rand -base64 32"
            )
        keys[name] = key
    return keys
