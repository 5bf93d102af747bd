"""Playing a whole cup, from its configuration to a finished store."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tournament.bot.launch import (
    LaunchSettings,
    does_without_sandbox,
    launch_of_cup,
    processor_warning,
    shared_folders,
    with_variables,
)
from tournament.config.cup import Cup
from tournament.formats import Plan
from tournament.formats.ladder import LadderPlan
from tournament.formats.seeds import weakness
from tournament.paths import state_folder
from tournament.run.consequences import apply_voids
from tournament.run.observer import RunObserver
from tournament.run.resume import only_runner, resume
from tournament.run.roster import Entrants, Gateway, Roster, wait_for_bots
from tournament.run.session import Session
from tournament.run.workers.executor import Executor
from tournament.run.workers.local_executor import LocalExecutor, tables_at_once
from tournament.store.store import Store

Cluster = Callable[[Cup, Sequence[Path]], Executor]
"""Makes an executor on other machines for a cup, given the paths that no bot may read. It may raise
StichError."""


def run_cup(
    cup: Cup,
    path: Path,
    target: str,
    observer: RunObserver,
    *,
    cluster: Cluster | None = None,
    gateway: Gateway | None = None,
    memory_share: float = 1.0,
) -> None:
    """Play the unfinished matches of the cup in the file `path`, and return when the cup has ended.

    Results are stored at `target`: a folder, or the URL of a database. If `cluster` is given, other
    machines play the matches. Otherwise, `memory_share` is the fraction of this machine's memory
    for bots that the cup may use. `gateway` must be given if the cup has connecting bots.
    Finished matches are kept, whatever error is raised.

    Raises:
        SandboxError: if the bots must run in a sandbox, but none is available.
        StartError: if a bot cannot play, or the rules service does not answer.
        RunError: if the run cannot continue.
        StoreError: as in `resume`, or if another runner is at work in the store.
        StichError: if the gateway no longer answers or cannot read the tokens, or if `cluster`
            raises it.
    """
    with ExitStack() as stack:
        store = stack.enter_context(Store.create(target, observer.notice))
        stack.enter_context(only_runner(store))
        plan = resume(store, cup)
        apply_voids(store, plan)
        run = store.run()
        if store.warning:
            observer.warning(store.warning)
        if run.commitment:
            observer.committed(run.commitment)
        if run.finished:
            return
        warnings = [weakness(run.seed)]
        for bot, other in run.companions().items():
            warnings.append(
                f"{bot} has the same author as {other}, which is disqualified. `stich disqualify`"
                f" takes {bot} out too."
            )
        if does_without_sandbox(cup):
            store.record_unsandboxed()
        else:
            warnings.append(shared_folders(cup.bots, path.absolute().parent))
        if cluster is None:
            launch, launch_warnings = local_launch(cup, path, store)
            warnings += launch_warnings
        plan, roster = _with_bots(plan, cup, store, gateway, observer)
        cup = with_variables(roster.cup(run))
        executor: Executor
        if cluster is None:
            executor = LocalExecutor(cup, launch, tables_at_once(cup, plan.blocks), memory_share)
        else:
            executor = cluster(cup, _secret(path, store))
        exclude = gateway.exclude if gateway is not None else lambda _bots: None
        with Session(plan, roster, executor, store, observer, exclude) as session:
            session.play(*warnings)


def _with_bots(
    plan: Plan, cup: Cup, store: Store, gateway: Gateway | None, observer: RunObserver
) -> tuple[Plan, Roster]:
    if gateway is None:
        return plan, Roster(cup)
    if isinstance(plan, LadderPlan):  # bots come and go, so its tables are drawn from the roster
        entrants = Entrants(cup, store, gateway)
        return LadderPlan(plan.setup, entrants.gather), entrants
    return plan, Roster(wait_for_bots(cup, store, gateway, observer))


def _secret(path: Path, store: Store) -> list[Path]:
    """Return the paths that no bot may read."""
    return [path, state_folder(), *([store.folder] if store.folder else [])]


def local_launch(cup: Cup, path: Path, store: Store) -> tuple[LaunchSettings, list[str]]:
    """Prepare to start the bots of the cup in the file `path` on this machine (see
    `launch_of_cup`). Return the settings, and a list of warnings, some of which may be "".

    Raises:
        SandboxError: if the bots must run in a sandbox, but none is available.
    """
    launch, notice = launch_of_cup(cup, path.absolute().parent, _secret(path, store))
    return launch, [notice, processor_warning(launch)]
