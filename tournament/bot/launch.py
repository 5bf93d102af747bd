"""How bots are started: program, environment, sandbox and control group."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from tournament.bot.sandbox.bubblewrap import Sandbox, SandboxError, bot_folder, sandboxes
from tournament.bot.sandbox.control_group import delegate, shares_processor
from tournament.config.cup import Bot, Cup, Limits, is_reference, reference_command
from tournament.formats.format import REFERENCE_BOTS
from tournament.paths import CHECKOUT, state_folder
from tournament.text import short

_AS_YOU = (
    "Warning: the bots run as your own user and without a sandbox, so nothing is safe from them:"
    " they can read the seed and the signing key, write results, and stop the run. Run only bots"
    " that you trust this way."
)
_WITH_NETWORK = (
    "Warning: the bots have the network, so they can reach each other and the services of this"
    " machine."
)
_UNSHARED = (
    "Warning: a bot that starts many processes can take processor time from the others. Run the cup"
    " in a control group of its own: systemd-run --user --scope -p Delegate=yes stich run CUP.toml"
)


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """The settings with which bots are started."""

    limits: Limits
    start_ms: int  # within which a bot must answer GET /
    sandboxes: Mapping[str, Sandbox] | None = None  # by name of the bot, or None for no sandboxes
    group: str | None = None  # the folder of the bots' control groups
    folder: Path = field(default_factory=Path.cwd)  # against which relative paths are resolved
    network: bool = False  # whether sandboxes share the machine's network
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # except for reference bots


def must_sandbox(cup: Cup) -> bool | None:
    """Return True if a cup's started bots must run in a sandbox, False if they run without one, or
    None if they run in a sandbox where possible. None is returned if the cup does not say, and all
    started bots are reference bots."""
    return True if cup.sandbox is None and any(map(_is_stranger, cup.bots)) else cup.sandbox


def does_without_sandbox(cup: Cup) -> bool:
    """Return whether a cup starts bots other than reference bots without a sandbox."""
    return cup.sandbox is False and any(map(_is_stranger, cup.bots))


def prepare_launch(
    bots: Sequence[Bot],
    limits: Limits,
    start_ms: int,
    *,
    sandbox: bool | None = None,
    network: bool = False,
    secret: Iterable[Path] = (),
    folder: Path | None = None,
    warning: str = _AS_YOU,
    copies: bool = False,
) -> tuple[LaunchSettings, str]:
    """Return the settings for starting the bots, and a warning for the user, or "".

    `sandbox` says whether bots with a command run in a sandbox. None means that they do if
    possible. `start_ms` is the time for a started bot to answer GET /. Bots' folders are relative
    to `folder`, by default the current folder. With `copies`, each sandboxed process of a bot that
    is not a reference bot gets its own copy of the bot's folder. The user's keys, `runs/` in
    `folder` and the paths in `secret` are hidden in every sandbox.

    The returned warning begins with `warning` if bots other than reference bots run without a
    sandbox. There is another warning if several sandboxed bots share the machine's network, unless
    all are reference bots. If a bot has a command and the system has delegated a control group to
    this process, the process moves into a subgroup.

    Raises:
        SandboxError: if `sandbox` is true and a bot cannot have a sandbox (see `sandboxes`).
    """
    inside, notice = None, warning
    start_in = folder or Path.cwd()
    started = [bot for bot in bots if bot.command is not None]
    if started and sandbox is not False:
        try:
            hidden = [start_in / "runs", *secret]
            with suppress(RuntimeError):  # a user without a home has no keys
                hidden.append(state_folder())
            inside = sandboxes(started, start_in, limits, hidden, network=network, copies=copies)
            notice = _WITH_NETWORK if network and len(started) > 1 else ""
        except SandboxError as error:
            if sandbox:
                raise SandboxError(
                    f"There can be no sandbox because {error}. Fix that, or start the bots without"
                    " one, able to do all that you can do: --no-sandbox, or enabled = false in"
                    " [sandbox]."
                ) from None
            notice += f" There is no sandbox because {error}."
    if not any(map(_is_stranger, started)):
        notice = ""
    group = delegate() if started else None
    return LaunchSettings(limits, start_ms, inside, group, start_in, network), notice


def launch_of_cup(
    cup: Cup, folder: Path, secret: Iterable[Path] = (), warning: str = _AS_YOU
) -> tuple[LaunchSettings, str]:
    """Return the result of `prepare_launch` for a cup's bots and settings, with `copies` if several
    seatings share the same cards. The other arguments are as in `prepare_launch`.

    Raises:
        SandboxError: if the bots must run in a sandbox (see `must_sandbox`), but cannot.
    """
    return prepare_launch(
        cup.bots,
        cup.limits,
        cup.clock.start_ms,
        sandbox=must_sandbox(cup),
        network=cup.network,
        secret=secret,
        folder=folder,
        warning=warning,
        copies=cup.format.cards == "shared" and cup.format.seating != "fixed",
    )


def processor_warning(launch: LaunchSettings) -> str:
    """Return a warning if sandboxed bots can get more processor time by starting more processes, or
    "" if they cannot."""
    return _UNSHARED if launch.sandboxes and not shares_processor(launch.group) else ""


def shared_folders(bots: Iterable[Bot], folder: Path) -> str:
    """Return a warning that names started bots with the same folder but different or unknown
    authors, or "". Reference bots do not count. Only the first such folder is reported. Relative
    paths are resolved against `folder`."""
    by_folder: dict[Path, list[Bot]] = {}
    for bot in filter(_is_stranger, bots):
        by_folder.setdefault(bot_folder(bot, folder), []).append(bot)
    for group in by_folder.values():
        if len(group) > 1 and (group[0].author is None or len({bot.author for bot in group}) > 1):
            names = ", ".join(bot.name for bot in group)
            return (
                f"{names} have the same folder and can read each other's files. Give each a folder"
                " of its own as its dir, or all the same author."
            )
    return ""


def _is_stranger(bot: Bot) -> bool:
    return bot.command is not None and not is_reference(bot)


def environment(argv: Sequence[str], port: int) -> dict[str, str]:
    """Return a started bot's environment variables, except HOME, TMPDIR and the cup's variables.

    Only PATH and LANG are taken from this process's environment. If the command `argv` begins with
    `python` or `python3`, PATH leads to this interpreter, which can import the reference bots.
    """
    path = os.environ.get("PATH", os.defpath)
    env = {
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PORT": str(port),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
    }
    if argv[0] in ("python", "python3"):
        path = os.pathsep.join((os.path.dirname(sys.executable), path))
        if (CHECKOUT / "pyproject.toml").is_file():
            env["PYTHONPATH"] = str(CHECKOUT)
    env["PATH"] = path
    return env


def with_variables(cup: Cup) -> Cup:
    """Return a copy of the cup in which each bot's `env` also has the variables that `env_from`
    names, if they are set in this process. The bot's own `env` takes precedence."""
    bots = (
        replace(bot, env={**{v: os.environ[v] for v in bot.env_from if v in os.environ}, **bot.env})
        for bot in cup.bots
    )
    return replace(cup, bots=tuple(bots))


def missing(
    bots: Iterable[Bot], folder: Path, *, programs: bool = True
) -> Iterator[tuple[int, str, str]]:
    """Yield (index of the bot, key in its section of CUP.toml, clause with the problem and the fix)
    for each missing folder, program or environment variable of started bots.

    Relative paths are resolved against `folder`. A program is not checked if its bot's folder is
    missing. If other machines start the bots, set `programs` to false, and no program is checked.
    """
    for number, bot in enumerate(bots):
        if bot.command is None:
            continue
        place = bot_folder(bot, folder)
        if not os.path.isdir(place):  # also false for a path that is too long
            text = f'there is no folder "{short(bot.dir)}"; create it, or fix the path.'
            yield number, "dir", text
        elif programs and (problem := program_problem(shlex.split(bot.command), place)):
            yield number, "command", problem
        for variable in bot.env_from:
            if variable not in os.environ:
                text = f"{variable} is not set; set it first: export {variable}=VALUE"
                yield number, "env_from", text


def program_problem(argv: list[str], folder: Path) -> str:
    """Return "" if a command's program can be started, else a clause with the reason and the fix.

    `argv` has the words of the command. A program with a slash is resolved against `folder`, the
    bot's folder. Any other program is looked up in the PATH of `environment`.
    """
    places = environment(argv, 0)["PATH"].split(os.pathsep)
    # A relative entry of PATH starts from the bot's folder.
    path = os.pathsep.join(str(folder / place) for place in places)
    if shutil.which(str(folder / argv[0]) if "/" in argv[0] else argv[0], path=path):
        return ""
    program = short(argv[0])
    if os.path.isfile(folder / argv[0]):
        return (
            f'"{program}" cannot be started; write the program that runs it, as in "python bot.py",'
            f' or make it executable and write "./{os.path.basename(program)}".'
        )
    why = f'there is no program "{program}"; '
    if meant := get_close_matches(argv[0], REFERENCE_BOTS, 1):
        return f'{why}the bot {meant[0]} is started by "{reference_command(meant[0])}".'
    if re.fullmatch(r"[\w.-]+:\d+(/.*)?", argv[0]):
        return f"{why}the URL of a bot begins with http://."
    return f"{why}install it, fix the command, or write the folder that it is in as dir."
