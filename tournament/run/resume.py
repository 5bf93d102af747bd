"""Beginning a run, and resuming it with the same cup or an extended one."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep
from typing import Any

from tournament.config.cup import Bot, Cup
from tournament.formats import Plan
from tournament.formats.format import Growth
from tournament.formats.round_robin import RoundRobin
from tournament.formats.seeds import commitment, committed_seed
from tournament.model import StoredRun
from tournament.paths import LOCK_FILE
from tournament.store.signing import make_key
from tournament.store.store import Store, StoreError

_FREE = (
    "run.concurrency",
    "run.memory_mb",
    "run.referee",
    "clock.start_ms",
    "limits",
    "sandbox",
    "network",
    "format.fill",
    "format.within",
    "format.ends",
    "join",
    "outage_s",
    "voids",
)
"""The keys and sections that may change when a run is resumed, because no result depends on them.
The bots that `fill` adds are compared like other bots."""

_KEYS = {"strikes": "faults.strikes", "fallback": "faults.fallback"}  # by field of `Cup`

_STOPPING_GROWTH = Growth("with [stop] only deals may be added", "deals")


def resume(store: Store, cup: Cup) -> Plan:
    """Begin the run of a cup in a store, or continue the run in the store. Return the run's plan.

    A store with neither matches nor epochs counts as new, so that a cup that could not start can be
    fixed. In any other store, `cup` replaces the stored cup if the cup is a ladder, or if its bots,
    their authors or its format have changed. A change to the bots or the format makes a finished
    run unfinished, except in a ladder.

    Raises:
        StoreError: if the store or the user's key cannot be used, if the store holds a different
            cup, if it has matches or epochs but no cup, if it is unfinished and does not hold
            exactly what this user's commands have written, or if the cup has changed in a way that
            its format does not allow or has grown after its seed was published.
    """
    run = store.run_if_begun()
    if not store.count() and not store.epochs():
        seed = _seed(cup, run)
        match_key = make_key().derive("match ids", seed)
        plan = cup.plan(seed, match_key)
        store.begin(cup, seed, match_key, commitment(seed) if cup.commit else None, plan.matches)
        return plan
    if run is None:
        raise StoreError(
            f"{store.where}: has matches, but their cup is missing; restore a complete copy,"
            " or run the cup again elsewhere."
        )
    before = run.cup
    elsewhere = "another --out" if store.folder else "another database by --store"
    everybody = store.sealed(cup, run.match_key).with_joined(run.decisions)
    if changes := differences(before, everybody):
        raise StoreError(
            f"{store.where} holds another cup: {'; '.join(changes)}. Name {elsewhere}, or change"
            f" it back; {_growth(before).clause}."
        )
    plan = everybody.plan(run.seed, run.match_key)
    if not run.finished:
        store.check()
    if cup.is_ladder:
        store.change_cup(cup)
    elif before.names != cup.names or before.format != cup.format:
        if run.commitment and run.finished and plan.blocks > run.plan().blocks:
            raise StoreError(
                f"{store.where}: this cup has ended and its seed was shown, so what is added now"
                " would be dealt from a seed that everybody knows. Make it a new cup: leave seed"
                f" out, or write another one, and name {elsewhere}."
            )
        store.grow(cup, plan)
    elif [bot.author for bot in before.bots] != [bot.author for bot in cup.bots]:
        store.change_cup(cup)
    return plan


def _seed(cup: Cup, before: StoredRun | None) -> str:
    """Return the seed of the run `before` if `cup` has the same `seed` and `commit`, because the
    run may be committed to that seed. Otherwise return the seed that the cup names, or a random
    seed. A seed to which the cup commits has a random part."""
    if before is not None and (before.cup.seed, before.cup.commit) == (cup.seed, cup.commit):
        return before.seed
    if cup.commit:
        return committed_seed(cup.seed)
    return secrets.token_hex(32) if cup.seed is None else cup.seed


def differences(before: Cup, after: Cup) -> list[str]:
    """Return a clause for each change from `before` to `after` that is not allowed in a run with
    matches. Both cups must be sealed (see `Store.sealed`)."""
    old, new = _flat(before.to_dict()), _flat(after.to_dict())
    grows = f"format.{_growth(before).key}"
    changes = [
        f"{_KEYS.get(key, key)} was {_shown(old[key])} and is {_shown(new.get(key))}"
        for key in old
        if old[key] != new.get(key)
        and {key, key.partition(".")[0]}.isdisjoint((*_FREE, "bots"))
        and not (key == grows and new.get(key, 0) > old[key])
    ]
    return changes + _bot_differences(before, after)


def _growth(cup: Cup) -> Growth:
    stops = cup.stop.top is not None and isinstance(cup.format, RoundRobin)
    return _STOPPING_GROWTH if stops else cup.format.growth


def _bot_differences(before: Cup, after: Cup) -> list[str]:
    changes = []
    now = {bot.name: bot for bot in after.bots}
    for bot in before.bots:
        if bot.name not in now:
            changes.append(_removal(bot))
            continue
        changes += _variable_differences(bot, now[bot.name])
        for key in ("command", "url", "connect", "dir", "env_from"):
            was, is_now = getattr(bot, key), getattr(now[bot.name], key)
            if was != is_now:
                changes.append(f'{key} of "{bot.name}" was {_shown(was)} and is {_shown(is_now)}')
    names = before.names
    if not changes and names != tuple(name for name in now if name in names):
        changes.append("the bots are in another order")
    added = [name for name in now if name not in names]
    if added and not _growth(before).bots:
        why = f"a {before.format.type} has drawn its tables"
        if isinstance(before.format, RoundRobin):
            why = "[stop] has compared the bots without it"
        changes.append(f'bot "{added[0]}" is new, and {why}')
    return changes


def _variable_differences(before: Bot, after: Bot) -> list[str]:
    """Return a clause for each difference in `env`, without the values, which are secret."""
    if before.env.keys() != after.env.keys():
        was, is_now = (_shown(sorted(bot.env) or None) for bot in (before, after))
        return [f'env of "{before.name}" had {was} and has {is_now}']
    return [
        f'{name} in env of "{before.name}" has another value, or another user began the run'
        for name, value in before.env.items()
        if value != after.env[name]
    ]


def _removal(bot: Bot) -> str:
    if not bot.house:
        return f'bot "{bot.name}" is gone'
    return (
        f'the bot "{bot.name}", which filled a seat and has played, would leave,'
        " because there are enough bots without it (to keep it, leave fill out and add it after"
        f' the earlier bots, as [[bots]] name = "{bot.name}", command = "{bot.command}")'
    )


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one mapping with keys such as "clock.move_ms". Each key begins with
    `prefix`. Empty mappings are left out."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def _shown(value: object) -> str:
    return "not set" if value is None or value == {} else json.dumps(value, ensure_ascii=False)


def _lock(descriptor: int) -> None:
    """Lock the file with this descriptor. A reader that looks for a runner holds the lock for an
    instant, so try for 0.1 seconds.

    Raises:
        BlockingIOError: if another program holds the lock.
        OSError: if the file cannot be locked.
    """
    deadline = monotonic() + 0.1
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() >= deadline:
                raise
        sleep(0.01)


@contextmanager
def only_runner(store: Store) -> Iterator[None]:
    """Hold a store's lock within this context, so that no other runner can use the store. Do not
    wait for another runner.

    Raises:
        StoreError: if another runner holds the lock, or if locking fails.
    """
    if store.folder is None:
        with store.advisory_lock():
            yield
        return
    path = store.folder / LOCK_FILE
    with ExitStack() as stack:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            stack.callback(os.close, descriptor)
            _lock(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            pid = os.read(descriptor, 20).decode("ascii", "replace").strip()
            raise StoreError(
                f"{store.folder}: another runner is at work here (process {pid or 'unknown'}); wait"
                " for it, or stop it first."
            ) from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror}.") from None
        yield
