"""What can be set about the service, by environment variables or by `create_app(config)`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

PREFIX = "STICH_"
MEBIBYTE = 1024 * 1024


class ConfigError(ValueError):
    """A setting that cannot be used; the text says which, and how to mend it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The service's settings.

    `max_body` is in bytes; `cors_origins` are the origins whose pages may call the service,
    `("*",)` for all of them.
    """

    max_body: int = MEBIBYTE
    cors_origins: tuple[str, ...] = ("*",)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> Self:
        """The settings that the `STICH_*` variables make; ConfigError if one is wrong."""
        if environ is None:
            environ = os.environ
        named = {field.name: environ.get(PREFIX + field.name.upper()) for field in fields(cls)}
        return cls().changed({name: text for name, text in named.items() if text is not None})

    def changed(self, values: Mapping[str, Any]) -> Self:
        """These settings with some replaced; text is read as an environment variable's is."""
        known = {field.name for field in fields(self)}
        for name in values:
            if name not in known:
                raise ConfigError(
                    f"There is no setting {name!r}; there are {', '.join(sorted(known))}."
                )
        changes = dict(values)
        if "max_body" in changes:
            changes["max_body"] = _bytes(changes["max_body"])
        if "cors_origins" in changes:
            changes["cors_origins"] = _origins(changes["cors_origins"])
        return replace(self, **changes)


def _bytes(value: object) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if number < 1:
        raise ConfigError(
            f"{PREFIX}MAX_BODY must be a number of bytes of 1 or more, such as {MEBIBYTE}, not"
            f" {value!r}."
        )
    return number


def _origins(value: str | Iterable[object]) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    origins = tuple(str(part).strip() for part in parts if str(part).strip())
    for origin in origins:
        if origin != "*" and "://" not in origin:
            raise ConfigError(
                f"{PREFIX}CORS_ORIGINS must be * or origins with commas between them, such as"
                f" https://example.org, not {origin!r}."
            )
    return origins
