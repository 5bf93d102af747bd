"""The whole way from a cup to a finished store."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from tournament.bot.launch import (
    LaunchSettings,
    does_without_sandbox,
    launch_of_cup,
    processor_warning,
    shared_folders,
)
from tournament.config.cup import Cup
from tournament.decisions import exclusion_notices
from tournament.formats.commitment import weakness
from tournament.formats.ladder import Ladder
from tournament.formats.round_scores import RoundScores
from tournament.paths import state_folder
from tournament.run.entrants import Connections, Entrants
from tournament.run.executor import Executor
from tournament.run.local_executor import LocalExecutor, tables_at_once
from tournament.run.observer import Observer
from tournament.run.resume import only_runner, resume
from tournament.run.runner import Runner
from tournament.run.voiding import apply_voids
from tournament.store.store import Store

Cluster = Callable[[Cup, Sequence[Path]], Executor]
"""Makes the executor that plays on other machines, of a cup and the paths that no bot may see."""

Waiting = Callable[[Sequence[str], int, str], None]
"""As `Observer.waiting`."""


class Gateway(Connections, Protocol):
    """The gateway of connecting bots."""

    def wait_for_bots(
        self, cup: Cup, absent: Callable[[], Mapping[str, str]], waiting: Waiting
    ) -> Cup:
        """Wait for all of them except those that are `absent`, each with a sentence that says why.
        Returns the cup with their URLs."""

    def exclude(self, bots: Mapping[str, str]) -> None:
        """Exclude exactly these bots, each with a sentence that says why."""


def run_cup(
    cup: Cup,
    path: Path,
    target: str,
    observer: Observer,
    *,
    cluster: Cluster | None = None,
    gateway: Gateway | None = None,
    memory_share: float = 1.0,
) -> None:
    """Play what is left of the cup in the file `path`; its store is at `target`.

    With `cluster`, other machines play it; `gateway` is needed if bots connect. `memory_share` is
    the share of this machine's memory for bots that those of the cup may use. StoreError,
    CupChangedError, SandboxError, StartError or RunError if it cannot be played; finished matches
    are kept.
    """
    with ExitStack() as stack:
        store = stack.enter_context(Store.create(target))
        stack.enter_context(only_runner(store))
        seed, schedule = resume(store, cup)
        apply_voids(store, cup, schedule)
        facts = store.facts()
        if store.warning:
            observer.warning(store.warning)
        if facts["commitment"]:
            observer.committed(facts["commitment"])
        if facts["finished"]:
            return
        warnings = [weakness(seed)]
        if does_without_sandbox(cup):
            store.put({"unsandboxed": True})
        else:
            warnings.append(shared_folders(cup.bots, path.absolute().parent))
        if cluster is None:
            launch, more = local_launch(cup, path, store)
            warnings += more
        entrants: Entrants | None = None
        if gateway is not None and isinstance(schedule, Ladder):
            entrants = Entrants(cup, schedule, store, gateway)
        elif gateway is not None:
            cup = _wait_for_bots(gateway, cup, store, observer)
        executor: Executor
        if cluster is None:
            tables = tables_at_once(cup, schedule.blocks)
            executor = LocalExecutor(cup, launch, tables, memory_share)
        else:
            executor = cluster(cup, _secret(path, store))
        exclude = gateway.exclude if gateway is not None else lambda _bots: None
        with Runner(cup, schedule, store, executor, observer, exclude, entrants) as runner:
            runner.run(*warnings)
        places = schedule.places(RoundScores(store))
        ended: dict[str, object] = {"settled": schedule.settled} if cup.stop.top else {}
        store.put({"finished": True, "places": places, "total": store.count(), **ended})


def _secret(path: Path, store: Store) -> list[Path]:
    """The paths that no bot may see."""
    return [path, state_folder(), *([store.folder] if store.folder else [])]


def local_launch(cup: Cup, path: Path, store: Store) -> tuple[LaunchSettings, list[str]]:
    """How the bots of the cup in the file `path` are started on this machine, and warnings, some of
    which may be empty. SandboxError."""
    launch, notice = launch_of_cup(cup, path.absolute().parent, _secret(path, store))
    return launch, [notice, processor_warning(launch)]


def _wait_for_bots(gateway: Gateway, cup: Cup, store: Store, observer: Observer) -> Cup:
    """Wait for the connecting bots; meanwhile the store says which are missing."""

    def waiting(bots: Sequence[str], of: int, invite: str) -> None:
        store.put({"awaited": bots})
        observer.waiting(bots, of, invite)

    try:
        return gateway.wait_for_bots(cup, lambda: exclusion_notices(store.decisions()), waiting)
    finally:
        if store.get("awaited"):
            store.put({"awaited": []})
