"""The sandbox of a started bot, made by bubblewrap. docs/sandbox.md says what a bot sees there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from tournament.bot.sandbox import seccomp
from tournament.bot.sandbox.folder_copy import LIMIT_MB, FolderToCopy, is_too_large
from tournament.config.cup import Bot, Limits, is_reference
from tournament.errors import StichError
from tournament.paths import CHECKOUT

SANDBOX_HOME = "/tmp"  # noqa: S108 - inside the sandbox
"""The home of a bot in a sandbox, which can write only there and in /dev/shm."""
HOME_MB = 256
SHARED_MEMORY_MB = 64  # the size of /dev/shm

_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")))
_ETC = (
    "alternatives",
    "group",
    "hosts",
    "java-*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "ssl",
)
_ETC_OF_NETWORK = ("pki", "resolv.conf")
_COPY = "(copy)"  # among the words of a sandbox, for the path of a copy
_PACKAGES = ("bots", "games", "*__mypyc*.so")
_ISOLATION = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent"),
)


class SandboxError(StichError):
    """A sandbox is not possible. The text is a clause or a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The words before a bot's command that start it in a sandbox. If `copied` is not None, each
    process gets a copy of that folder."""

    words: tuple[str, ...]
    copied: FolderToCopy | None = None

    def of_process(self, descriptor: int, copy: str) -> list[str]:
        """Return the words for one process. `descriptor` is the descriptor of the file from
        `seccomp.opened`. `copy` is the path of the copy, and ignored if `copied` is None."""
        bwrap, *words = (copy if word == _COPY else word for word in self.words)
        return [bwrap, "--seccomp", str(descriptor), *words]


def sandboxes(
    bots: Iterable[Bot],
    folder: Path,
    limits: Limits,
    secret: Iterable[Path],
    *,
    network: bool = False,
    copies: bool = False,
) -> Mapping[str, Sandbox]:
    """Return the sandbox of each bot that has a command, by the bot's name.

    To see whether the system allows sandboxes, start a program in the first sandbox. The arguments
    are as in `prepare_launch`, but only the paths in `secret` are hidden.

    Raises:
        SandboxError: if bubblewrap is missing or cannot be started, the system does not allow
            sandboxes, or a bot's folder may not be shown to bots or is too large to copy.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError("bwrap was not found (install the package bubblewrap)")
    hidden = [path.resolve() for path in secret]
    by_name = {
        bot.name: _sandbox(bwrap, bot, folder, limits, hidden, network, copies)
        for bot in bots
        if bot.command is not None
    }
    if by_name:
        _try(next(iter(by_name.values())))
    return by_name


def bot_folder(bot: Bot, folder: Path) -> Path:
    """Return a bot's folder as an absolute path. This is the bot's `dir`, relative to `folder`, or
    `folder` itself if the bot has no `dir`."""
    return folder.resolve() / (bot.dir or "")


def _covered(place: Path, secret: Iterable[Path]) -> list[Path]:
    """Return the existing paths in `secret` that are `place` or inside it, sorted. Leave out paths
    inside another one of these paths."""
    inside = {path for path in secret if path.is_relative_to(place) and path.exists()}
    return sorted(path for path in inside if inside.isdisjoint(path.parents))


def _sandbox(
    bwrap: str,
    bot: Bot,
    folder: Path,
    limits: Limits,
    secret: Sequence[Path],
    network: bool,
    copies: bool,
) -> Sandbox:
    place = _checked_folder(bot, folder, secret)
    copied = None
    left_out: list[str] = []
    if copies and not is_reference(bot):
        left_out = [str(path) for path in _covered(place, secret)]
        copied = FolderToCopy(folder=str(place), left_out=left_out)
        if place.is_dir() and is_too_large(copied):
            raise SandboxError(
                f"{place}, the folder of {bot.name}, has more than the {LIMIT_MB} MB of which each"
                " process of a bot gets a copy (take out what the bot does not need, give the bot"
                ' a folder of its own, or set cards = "fresh" in [format], which copies nothing)'
            )
    words = [bwrap, *_ISOLATION, "--proc", "/proc", "--dev", "/dev"]
    words += ("--size", str(SHARED_MEMORY_MB << 20), "--tmpfs", "/dev/shm")  # noqa: S108 - inside the sandbox
    words += ("--size", str(HOME_MB << 20), "--tmpfs", SANDBOX_HOME)
    if not network:
        words.append("--unshare-net")
    etc = (*_ETC, *(_ETC_OF_NETWORK if network else ()))
    for system in (*_SYSTEM, *sorted(path for name in etc for path in Path("/etc").glob(name))):
        words += ("--ro-bind-try", str(system), str(system))
    shown = _python()
    if is_reference(bot):
        words += ("--dir", str(place))  # a reference bot needs no file in its folder
    else:
        shown.append(place)
    for path in shown:
        words += ("--ro-bind", _COPY if copied and path == place else str(path), str(path))
    hidden = {path for root in shown for path in _covered(root, secret)}
    for path in (path for path in hidden if str(path) not in left_out):
        if path.is_dir():
            words += ("--tmpfs", str(path), "--remount-ro", str(path))
        else:
            words += ("--ro-bind", os.devnull, str(path))
    # A run of root maps root into the sandbox, who could write the settings of the kernel.
    words += ("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/")
    words += ("--chdir", str(place))
    # Inside the sandbox, only the bot's own processes count towards the limit.
    words += ("--", "/usr/bin/prlimit", f"--nproc={limits.processes}", "--")
    return Sandbox(tuple(words), copied)


def _checked_folder(bot: Bot, folder: Path, secret: Iterable[Path]) -> Path:
    place = bot_folder(bot, folder)
    if is_reference(bot):
        return place  # which no sandbox shows
    resolved = Path(os.path.realpath(place))
    # A loop of links resolves to itself.
    if resolved != Path(os.path.normpath(place)) or place.is_symlink():
        raise SandboxError(
            f"{place}, the folder of {bot.name}, is a link or behind one (write the folder itself)"
        )
    if resolved == Path(gettempdir()) or _home().is_relative_to(resolved):
        raise SandboxError(
            f"{place}, the folder of {bot.name}, holds far more than a bot (give the bot a folder"
            " of its own)"
        )
    hidden = next((path for path in secret if resolved.is_relative_to(path)), None)
    if hidden is not None:
        raise SandboxError(
            f"{bot.name} has its folder in {hidden}, which bots may not see (keep the run"
            " elsewhere, or move the bot)"
        )
    return resolved


def _home() -> Path:
    try:
        return Path.home().resolve()
    except RuntimeError:  # a user whom the system does not know, as in some containers
        return Path("/")


def _python() -> list[Path]:
    """Return the paths of this Python and of Stich's packages that bots import, sorted. Leave out
    paths in the system's folders, which every sandbox shows anyway."""
    prefixes = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix)}
    places = prefixes | {prefix.resolve() for prefix in prefixes}
    places.update(place for name in _PACKAGES for place in CHECKOUT.glob(name))
    return sorted(
        place for place in places if not any(place.is_relative_to(root) for root in _SYSTEM)
    )


def _try(sandbox: Sandbox) -> None:
    folder = sandbox.copied["folder"] if sandbox.copied else ""
    try:
        with seccomp.opened() as descriptor:
            done = subprocess.run(  # noqa: S603 - bubblewrap itself
                [*sandbox.of_process(descriptor, folder), "true"],
                pass_fds=[descriptor],
                capture_output=True,
                text=True,
                check=False,
            )
    except OSError as error:
        raise SandboxError(str(error)) from None
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        if "nknown option" in why:
            fix = "install bubblewrap 0.8 or newer"
        elif "seccomp" in why.lower():
            fix = "use a kernel that is built with CONFIG_SECCOMP_FILTER"
        else:
            fix = "allow unprivileged user namespaces"
        raise SandboxError(f"{why} ({fix})")
