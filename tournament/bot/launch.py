"""How the bots of a cup are started: programs, environment, sandbox and control group.

A sandbox and a control group are used if the system has them.
"""

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
from tournament.settings.locations import short

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
    """The settings for starting every bot of a cup.

    `sandboxes` maps the name of each bot to its sandbox, and is None if there are no sandboxes.
    `group` is the folder of the control groups, or None without them. Relative paths of bots start
    from `folder`, the cup's folder. With `network`, a sandbox has the machine's network. `env` has
    additional variables for all bots but the reference bots; they may be secrets.
    """

    limits: Limits
    start_ms: int
    sandboxes: Mapping[str, Sandbox] | None = None
    group: str | None = None
    folder: Path = field(default_factory=Path.cwd)
    network: bool = False
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


def must_sandbox(cup: Cup) -> bool | None:
    """Whether the started bots of a cup must run in a sandbox: yes, unless the organiser declines.

    None if all bots are reference bots. Then a sandbox is used where the system allows it.
    """
    if cup.sandbox is None and any(map(_is_stranger, cup.bots)):
        return True
    return cup.sandbox


def does_without_sandbox(cup: Cup) -> bool:
    """Whether the organiser starts other people's bots without a sandbox."""
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
    """Prepare to start these bots; return the settings and a warning for the user ("" for none).

    The warning is `warning` if bots run without a sandbox. `sandbox` says whether there must be
    one; None means where the system allows it. With `network`, sandboxes have the machine's
    network. With `copies`, each sandboxed process gets its own copy of the bot's folder. The user's
    keys, `runs/` and the paths in `secret` are hidden in every sandbox. Relative paths of bots
    start from `folder`, by default the current folder.

    Raises:
        SandboxError: if there must be a sandbox and there cannot be one.
    """
    inside, notice = None, ""
    start_in = Path.cwd() if folder is None else folder
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
            notice = f"{warning} There is no sandbox because {error}."
    elif started:
        notice = warning
    if not any(map(_is_stranger, started)):
        notice = ""
    group = delegate() if started else None
    return LaunchSettings(limits, start_ms, inside, group, start_in, network), notice


def launch_of_cup(
    cup: Cup, folder: Path, secret: Iterable[Path] = (), warning: str = _AS_YOU
) -> tuple[LaunchSettings, str]:
    """Same as `prepare_launch`, for the bots of a cup.

    If several seatings share the same cards, each process gets its own copy of the bot's folder, so
    that no seating can pass information to another.
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
    """A warning if a sandboxed bot can take processor time from others, else "".

    A bot does so by starting processes.
    """
    if not launch.sandboxes or shares_processor(launch.group):
        return ""
    return _UNSHARED


def shared_folders(bots: Iterable[Bot], folder: Path) -> str:
    """A sentence that names started bots of different authors with the same folder, or "" if none.

    Relative paths start from `folder`.
    """
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
    """Whether a bot is started by a command and is not one of Stich's own."""
    return bot.command is not None and not is_reference(bot)


def environment(argv: Sequence[str], port: int) -> dict[str, str]:
    """The environment of a started bot, except HOME and TMPDIR.

    The command `python` starts this interpreter, which can import the project's own bots.
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
    """The cup with the variables in `env_from`, as set in this process, added to each bot's `env`.

    Variables that are not set are left out; `missing` reports them.
    """
    bots = (
        replace(bot, env={**{v: os.environ[v] for v in bot.env_from if v in os.environ}, **bot.env})
        for bot in cup.bots
    )
    return replace(cup, bots=tuple(bots))


def missing(
    bots: Iterable[Bot], folder: Path, *, programs: bool = True
) -> Iterator[tuple[int, str, str]]:
    """Yield what the bots with a command need and lack.

    Each item is the number of the bot from 0, the key of its section to fix, and a sentence with
    the fix. Relative paths start from `folder`. With `programs` false, programs are not looked for,
    because other machines start them.
    """
    for number, bot in enumerate(bots):
        if bot.command is None:
            continue
        place = folder / (bot.dir or "")
        if not os.path.isdir(place):  # which is also false where it cannot be read
            text = f'there is no folder "{short(bot.dir)}"; create it, or fix the path.'
            yield number, "dir", text
        elif programs and (problem := program_problem(shlex.split(bot.command), place)):
            yield number, "command", problem
        for variable in bot.env_from:
            if variable not in os.environ:
                text = f"{variable} is not set; set it first: export {variable}=VALUE"
                yield number, "env_from", text


def program_problem(argv: list[str], folder: Path) -> str | None:
    """Why the program of a command cannot be started in this folder, and the fix.

    None if it can.
    """
    if "/" in argv[0]:
        program_path = shutil.which(str(folder / argv[0]))
    else:
        places = environment(argv, 0)["PATH"].split(os.pathsep)
        # A relative entry means a folder in that of the bot.
        path = os.pathsep.join(str(folder / place) for place in places)
        program_path = shutil.which(argv[0], path=path)
    if program_path is not None:
        return None
    program = short(argv[0])
    if os.path.isfile(folder / argv[0]):
        return (
            f'"{program}" cannot be started; write the program that runs it, as in "python bot.py",'
            f' or make it executable and write "./{os.path.basename(program)}".'
        )
    why = f'there is no program "{program}"; '
    if re.fullmatch(r"[\w.-]+:\d+(/.*)?", argv[0]):
        return f"{why}the address of a bot begins with http://."
    if meant := get_close_matches(argv[0], REFERENCE_BOTS, 1):
        return f'{why}the bot {meant[0]} is started by "{reference_command(meant[0])}".'
    return f"{why}install it, fix the command, or write the folder that it is in as dir."
