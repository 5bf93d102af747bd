"""How the bots of a cup are started: in a sandbox and a control group where the system has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tournament.bot.control_group import delegate
from tournament.bot.process import LaunchSettings
from tournament.bot.sandbox.bubblewrap import SandboxError, sandboxes
from tournament.config import Bot, Limits
from tournament.paths import KEY_FILE, state_folder

_AS_YOU = (
    "Warning: the bots run as your own user and without a sandbox, so nothing is safe from them:"
    " they can read the seed and the signing key, write results, and stop the run. Run only bots"
    " that you trust this way."
)


def prepare_launch(
    bots: Sequence[Bot],
    limits: Limits,
    start_ms: int,
    *,
    sandbox: bool | None = None,
    secret: Iterable[Path] = (),
    folder: Path | None = None,
    warning: str = _AS_YOU,
) -> tuple[LaunchSettings, str]:
    """The settings, and for the organiser the `warning` if bots run without a sandbox, else "".

    `sandbox` says whether there must be one; None: where the system allows it. SandboxError if
    there must be one and cannot. In every sandbox the signing key is covered, and what is
    `secret`. Relative paths of bots start from `folder`, by default the current one.
    """
    inside, notice = None, ""
    start_in = Path.cwd() if folder is None else folder
    started = [bot for bot in bots if bot.command is not None]
    if started and sandbox is not False:
        try:
            inside = sandboxes(bots, start_in, limits, [*_keys(), *secret])
        except SandboxError as error:
            if sandbox:
                raise SandboxError(
                    f"There can be no sandbox because {error}. Fix that, or do without one:"
                    " enabled = false in [sandbox], or --no-sandbox with check, connect, duel and"
                    " play."
                ) from None
            notice = f"{warning} There is no sandbox because {error}."
    elif started:
        notice = warning
    group = delegate() if started else None
    return LaunchSettings(limits, start_ms, inside, group, start_in), notice


def _keys() -> list[Path]:
    """The folder of the user's keys, and the signing key; none if the user has no home."""
    try:
        return [state_folder(), state_folder() / KEY_FILE]
    except RuntimeError:
        return []
