"""`stich duel`: two bots against each other, mirrored, until it is decided."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
from rich.console import Console

import games
from stich.commands.run import REFUSALS, stoppable
from stich.console.stdout import OutputError
from tournament.bot.process import LaunchSettings
from tournament.config import HOUSE_BOTS, Bot, Clock, Cup, Format, Run
from tournament.config.locations import short
from tournament.config.schema import command, seed, url
from tournament.formats.duel import Duel
from tournament.run.lock import only_runner
from tournament.run.progress import JsonLines
from tournament.run.resume import resume
from tournament.run.session import play_all
from tournament.store.store import Store
from tournament.text import plural, screen

if TYPE_CHECKING:
    from tournament.results.standings import Standings

_USAGE = 2


@dataclass(frozen=True, slots=True)
class Wish:
    """What was typed."""

    bots: tuple[str, str]
    game: str
    players: int | None
    deals: int
    options: Sequence[str]
    seed: str | None
    move_ms: int
    bank_ms: int
    concurrency: int
    out: str | None
    as_json: bool


def duel(wish: Wish) -> int:
    """Play the duel; the exit code."""
    try:
        cup = cup_of(wish)
    except ValueError as error:
        click.echo(f"Error: {error}", err=True)
        return _USAGE
    try:
        with stoppable():
            return _play(cup, wish)
    except REFUSALS as error:
        click.echo(str(error), err=True)
    except OutputError as error:
        error.kept = _kept(wish)
        raise
    except KeyboardInterrupt:
        click.echo(f"\nStopped. {_kept(wish)}", err=True)
    return 1


def _kept(wish: Wish) -> str:
    """What there is of a duel that was broken off."""
    if wish.out:
        return f"Go on with the same command; {wish.out} has kept it."
    return "Nothing of it is kept; with --out DIR it is, and the same command goes on with it."


def cup_of(wish: Wish) -> Cup:
    """The duel as a cup; ValueError with a sentence if it cannot be one."""
    try:
        game = games.get(wish.game)
    except games.UnknownGame as error:
        raise ValueError(str(error)) from None
    try:
        players, options = game.resolve_options(wish.players, "seed", _options(wish.options))
    except games.OptionError as error:
        raise ValueError(f"{error.field}: {error.message}") from None
    if wish.seed is not None:
        _held("--seed", seed(wish.seed))
    first, second = (_bot(text) for text in wish.bots)
    if first.name == second.name:
        second = Bot(f"{second.name} (2)", second.command, second.url)
    return Cup(
        name=f"{first.name} against {second.name}",
        game=game.name,
        players=players,
        bots=(first, second),
        seed=wish.seed,
        options=options,
        format=Format(type="duel", deals=wish.deals, seating="mixed"),
        clock=Clock(wish.move_ms, wish.bank_ms),
        run=Run(concurrency=wish.concurrency),
    )


def _bot(text: str) -> Bot:
    """A bot from its URL, the name of a reference bot, or a command."""
    if not text.strip():
        raise ValueError("A bot is a URL, a command, or one of " + ", ".join(HOUSE_BOTS) + ".")
    if text.startswith(("http://", "https://")):
        _held(short(text), url(text))
        return Bot(text, url=text)
    if text in HOUSE_BOTS:
        return Bot(text, command=f"python -m bots.{text}")
    _held(short(text), command(text))
    return Bot(text, command=text)


def _held(what: str, wrong: str | None) -> None:
    """ValueError if something is wrong, as a CUP.toml would be told."""
    if wrong:
        raise ValueError(f"{what}: {wrong}")


def _options(words: Sequence[str]) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"--option {short(word)}: write NAME=VALUE, as in deals=4.")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError(
                f"--option {short(word)}: the value must be a number, true or false."
            ) from None
    return found


def _play(cup: Cup, wish: Wish) -> int:
    console = screen(stderr=wish.as_json)
    with ExitStack() as stack:
        folder = wish.out or stack.enter_context(tempfile.TemporaryDirectory(prefix="stich-duel-"))
        store = stack.enter_context(Store.create(folder))
        stack.enter_context(only_runner(store))
        _, schedule = resume(store, cup)
        if not isinstance(schedule, Duel):
            raise TypeError("A duel has another schedule.")
        launch = LaunchSettings(cup.limits, cup.clock.start_ms)
        said = JsonLines(sys.stdout) if wish.as_json else None
        try:
            play_all(cup, schedule, store, launch, said, console)
        except KeyboardInterrupt:
            if store.count():
                _tell(console, said, cup, schedule, "stopped", store)
            raise
        store.put({"finished": True, "total": store.count()})
        ended = "decided" if schedule.test.decided else "budget"
        _tell(console, said, cup, schedule, ended, store)
    return 0


def _tell(
    console: Console, said: JsonLines | None, cup: Cup, schedule: Duel, ended: str, store: Store
) -> None:
    """The table and the odds; `ended` is "decided", "budget" or "stopped"."""
    from stich.console.standings_table import standings_table
    from tournament.results.standings import standings

    test = schedule.test
    better, worse = cup.names if test.mean > 0 else cup.names[::-1]
    table = _ranked(standings(store), better if test.decided else None)
    if said:
        said.emit_event(
            "stopped" if ended == "stopped" else "finished",
            ended=ended,
            better=better if test.decided else None,
            difference=test.mean,
            evidence=test.evidence,
            **table.to_dict(),
        )
        return
    console.print(standings_table(table))
    deals = plural(schedule.blocks, "deal")
    odds = f"{test.evidence:.3g} to 1; 20 to 1 settles it"
    if ended == "decided":
        text = f"Decided after {test.blocks} of {deals}: {better} beats {worse}"
        text += f" by {abs(test.mean):.2f} points a deal ({odds})."
    else:
        text = f"Not decided: the budget of {deals} is spent ({odds})."
        if ended == "stopped":
            text = f"Not decided after {test.blocks} of {deals} ({odds})."
        if test.mean:
            text += f" So far {better} is ahead of {worse} by {abs(test.mean):.2f} points a deal."
        if ended == "budget":
            text += " More --deals may settle it."
    console.print(text, highlight=False, markup=False)


def _ranked(table: Standings, better: str | None) -> Standings:
    """The table with the ranks that the duel's own test has settled, and no others."""
    ranks = {line.bot: (1, 2) for line in table.standings}
    if better is not None:
        ranks = {bot: (1, 1) if bot == better else (2, 2) for bot in ranks}
    lines = tuple(replace(line, rank=ranks[line.bot]) for line in table.standings)
    return replace(table, standings=lines)
