"""The whole way from a cup to a finished store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tournament.bot.launch import (
    does_without_sandbox,
    must_sandbox,
    prepare_launch,
    processor_warning,
    shared_folders,
)
from tournament.bot.url_bot import StartError
from tournament.config import Cup
from tournament.decisions import absent
from tournament.formats import Schedule
from tournament.formats.commitment import weakness
from tournament.formats.round_scores import RoundScores
from tournament.paths import state_folder
from tournament.run.executor import Executor
from tournament.run.local_executor import LocalExecutor, tables_at_once
from tournament.run.lock import only_runner
from tournament.run.resume import resume
from tournament.run.runner import Observer, Runner
from tournament.run.voiding import apply_voids
from tournament.store.store import Store

Cluster = Callable[[Cup, Sequence[Path]], Executor]
"""The executor of other machines, for a cup and the paths that no bot may see."""

WaitForBots = Callable[[Cup, frozenset[str], Observer], Cup]
"""Waits for the bots that connect, but for those that play no more; the cup with their URLs."""


def run_cup(
    cup: Cup,
    path: Path,
    target: str,
    observer: Observer,
    *,
    cluster: Cluster | None = None,
    wait_for_bots: WaitForBots = lambda cup, _absent, _observer: cup,
) -> None:
    """Play what is left of the cup in the file `path`; its store is at `target`.

    With `cluster` other machines play it.
    StoreError, CupChangedError, SandboxError, StartError or RunError, with a sentence, if it cannot
    be played; what is finished is kept.
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
        folder = path.absolute().parent
        warnings = [weakness(seed)]
        if does_without_sandbox(cup):
            store.put({"unsandboxed": True})
        else:
            warnings.append(shared_folders(cup.bots, folder))
        secret = [path, state_folder(), *([store.folder] if store.folder else [])]
        executor: Executor
        if cluster is None:
            launch, notice = prepare_launch(
                cup.bots,
                cup.limits,
                cup.clock.start_ms,
                sandbox=must_sandbox(cup),
                network=cup.network,
                secret=secret,
                folder=folder,
            )
            warnings += [notice, processor_warning(launch)]
            cup = wait_for_bots(cup, absent(store.decisions()), observer)
            executor = LocalExecutor(cup, launch, tables_at_once(cup, schedule.blocks))
        else:
            executor = cluster(cup, secret)
        play_all(cup, schedule, store, executor, observer, *warnings)
        places = schedule.places(RoundScores(store))
        ended: dict[str, object] = {"settled": schedule.settled} if cup.stop.top else {}
        store.put({"finished": True, "places": places, "total": store.count(), **ended})


def play_all(
    cup: Cup, schedule: Schedule, store: Store, executor: Executor, observer: Observer, *warn: str
) -> None:
    """Play all matches that are still to be played, and close the executor.

    The warnings in `warn` that are not empty are passed on once all bots are ready. StartError if a
    bot cannot play; RunError or StoreError if the run cannot continue.
    """
    with Runner(cup, schedule, store, executor) as runner:
        started = sum(bot.command is not None for bot in cup.bots)
        observer.starting(started, len(cup.bots) - started)
        if problems := runner.inspect():
            raise StartError("\n".join(problems))
        for warning in filter(None, warn):
            observer.warning(warning)
        runner.run(observer)
