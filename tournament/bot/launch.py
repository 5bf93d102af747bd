"""How the bots of a cup are started: in a sandbox and a control group where the system has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tournament.bot.control_group import delegate, shares_processor
from tournament.bot.process import LaunchSettings
from tournament.bot.sandbox.bubblewrap import SandboxError, bot_folder, sandboxes
from tournament.config import Bot, Cup, Limits, is_reference
from tournament.paths import state_folder

_AS_YOU = (
    "Warning: the bots run as your own user and without a sandbox, so nothing is safe from them:"
    " they can read the seed and the signing key, write results, and stop the run. Run only bots"
    " that you trust this way."
)

_UNSHARED = (
    "Warning: a bot that starts many processes can take processor time from the others. Run the cup"
    " in a control group of its own: systemd-run --user --scope -p Delegate=yes stich run CUP.toml"
)


def must_sandbox(cup: Cup) -> bool | None:
    """Whether the started bots of a cup must be in a sandbox: yes, unless the organiser does
    without it. None (where the system allows it) if all of them are reference bots."""
    if cup.sandbox is None and any(map(_is_stranger, cup.bots)):
        return True
    return cup.sandbox


def does_without_sandbox(cup: Cup) -> bool:
    """Whether the organiser starts bots of others without a sandbox."""
    return cup.sandbox is False and any(map(_is_stranger, cup.bots))


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
    """The settings, and for the user the `warning` if bots run without a sandbox, else "".

    `sandbox` says whether there must be one; None: where the system allows it. SandboxError if
    there must be one and cannot. In every sandbox the keys of the user, `runs/` and what is
    `secret` are covered. Relative paths of bots start from `folder`, by default the current one.
    """
    inside, notice = None, ""
    start_in = Path.cwd() if folder is None else folder
    started = [bot for bot in bots if bot.command is not None]
    if started and sandbox is not False:
        try:
            inside = sandboxes(started, start_in, limits, [*_keys(), start_in / "runs", *secret])
        except SandboxError as error:
            if sandbox:
                raise SandboxError(
                    f"There can be no sandbox because {error}. Fix that, or start the bots without"
                    " one, able to do all that you can do: --no-sandbox, or enabled = false in"
                    " [sandbox]."
                ) from None
            notice = f"{warning} There is no sandbox because {error}."
    elif started:
        notice = warning
    if not any(map(_is_stranger, started)):
        notice = ""
    group = delegate() if started else None
    return LaunchSettings(limits, start_ms, inside, group, start_in), notice


def processor_warning(launch: LaunchSettings) -> str:
    """A sentence if a bot in a sandbox can take processor time from others by starting processes,
    else ""."""
    if not launch.sandboxes or shares_processor(launch.group):
        return ""
    return _UNSHARED


def shared_folders(bots: Iterable[Bot], folder: Path) -> str:
    """A sentence that names started bots of different authors with the same folder, if there are
    any; relative paths start from `folder`."""
    together: dict[Path, list[Bot]] = {}
    for bot in filter(_is_stranger, bots):
        together.setdefault(bot_folder(bot, folder), []).append(bot)
    for some in together.values():
        if len(some) > 1 and (some[0].author is None or len({bot.author for bot in some}) > 1):
            names = ", ".join(bot.name for bot in some)
            return (
                f"{names} have the same folder and can read each other's files. Give each a folder"
                " of its own as its dir, or all the same author."
            )
    return ""


def _is_stranger(bot: Bot) -> bool:
    """Whether a bot is started and is none of Stich's own."""
    return bot.command is not None and not is_reference(bot)


def _keys() -> list[Path]:
    """The folder of the user's keys; none if the user has no home."""
    try:
        return [state_folder()]
    except RuntimeError:
        return []
