"""`stich play`: a person at the terminal against bots."""

from __future__ import annotations

import json
import secrets
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import click
from rich.console import Console
from rich.text import Text

import games
from games import OptionError
from games.game import Game, State
from games.move import Move
from stich.commands import completion
from stich.console import play_screen as screen
from tournament.bot.started_bot import StartError
from tournament.config import Clock
from tournament.play.menu import Listing, Menu, Problem
from tournament.play.opponents import DEFAULT, Opponent, gather, seated
from tournament.text import printable

_HIDDEN = ("give", "discard")
"""Moves that some seats may not know; what the person sees of them comes from the view."""


class _Left(Exception):
    """The person has had enough."""


class Sitting:
    """One game: a person at a seat, bots at the others. Shows the person's view and no more."""

    def __init__(
        self, console: Console, state: State, seat: int, opponents: Mapping[int, Opponent]
    ) -> None:
        self._console = console
        self._state = state
        self._seat = seat
        self._opponents = opponents
        self._names = [
            "you" if place == seat else f"{opponents[place].name} ({place})"
            for place in range(state.players)
        ]

    def play(self) -> None:
        """Play to the end; _Left when the person leaves."""
        for place, opponent in self._opponents.items():
            opponent.start_match(self._state, place)
        while (turn := self._state.turn) is not None:
            if turn == self._seat:
                self._take(self._person())
                continue
            move, fault = self._opponents[turn].move(self._state, turn)
            if fault:
                words = f"{self._names[turn]} fails, the house plays for it: {printable(fault)}"
                self._console.print(Text(words, style="yellow"))
            self._take(move)
        for place, opponent in self._opponents.items():
            opponent.end_match(self._state, place)
        self._farewell()

    def _take(self, move: Move) -> None:
        """Make a move, and tell the person as much of it as the view does."""
        before, self._state = self._state, self._state.advance(move)
        mover = before.turn
        if mover is None:
            raise ValueError("The game is over: nobody moves.")
        shown = move.text
        if move.kind in _HIDDEN:
            shown = self._state.view(self._seat).to_dict()["history"][-1]["move"]
        line = Text(f"{self._names[mover]}: ").append_text(screen.play_text(shown, move.category))
        self._console.print(line)
        for result in self._state.results[len(before.results) :]:
            self._console.print(screen.result(result, self._names))

    def _person(self) -> Move:
        """The person's move: asked until it is a legal one."""
        view = self._state.view(self._seat)
        wire = view.to_dict()
        menu = Menu(view)
        self._console.print(screen.position(wire, self._names, view.game.title))
        self._console.print(screen.menu(menu.all()))
        while True:
            typed = self._console.input("[b]your move[/b] (? helps): ").strip()
            if typed in ("q", "quit", "exit"):
                raise _Left
            if typed in ("?", "help"):
                self._console.print(screen.HELP)
            elif typed == "h":
                self._console.print(screen.history(wire, self._names))
            elif typed.startswith("/"):
                self._show(menu.search(typed[1:]), limit=None)
            elif not typed and len(menu) > 1:
                self._show(menu.all(), limit=screen.SHOWN)
            else:
                chosen = menu.choose("pass" if typed == "p" else typed or "1")
                if isinstance(chosen, Move):
                    return chosen
                self._show(chosen, limit=None)

    def _show(self, found: Listing | Problem, limit: int | None) -> None:
        if isinstance(found, Problem):
            self._console.print(Text(found.text, style="red"))
        else:
            self._console.print(screen.menu(found, limit))

    def _farewell(self) -> None:
        best = max(self._state.scores)
        winners = [
            name
            for name, score in zip(self._names, self._state.scores, strict=True)
            if score == best
        ]
        self._console.print(screen.totals(self._names, self._state.scores))
        self._console.print(Text(f"The game is over. Highest: {', '.join(winners)}.", style="bold"))


def _options(pairs: Sequence[str]) -> dict[str, object]:
    """`name=value` pairs; a value is a JSON number, true, false or null."""
    options: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        try:
            options[name] = json.loads(value)
        except ValueError:
            equals = ""
        if not equals:
            raise click.BadParameter(
                f"write {pair!r} as name=value, as in deals=3 or spring=true.",
                param_hint="--option",
            )
    return options


def _game(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if value in games.GAMES:
        return value
    raise click.BadParameter(f"there is no game {value!r}; there are {', '.join(games.GAMES)}.")


def _seats(game: Game, players: int | None, wanted: Sequence[str]) -> int:
    """How many sit down: as said, or else as many as the named bots make, or the fewest."""
    if players is None:
        players = max(game.min_players, min(len(wanted) + 1, game.max_players))
    if len(wanted) > players - 1:
        raise click.BadParameter(
            f"{len(wanted)} bots are too many beside you at {players} seats.", param_hint="--with"
        )
    return players


@click.command()
@click.argument("game", callback=_game, shell_complete=completion.games)
@click.option(
    "--with",
    "wanted",
    multiple=True,
    shell_complete=completion.bots,
    metavar="BOT",
    help="An opponent: random, greedy, sensible, search, a URL or a command; once for each seat,"
    f" over and over if too few. Without it: {', '.join(DEFAULT)}.",
)
@click.option("--players", type=int, help="Seats, yours included; without it as few as possible.")
@click.option("--seed", help="Deals follow from it; without it a fresh one, which is shown.")
@click.option("--seat", type=int, default=0, show_default=True, help="Where you sit.")
@click.option(
    "--option",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the game, as in deals=3.",
)
@click.option(
    "--move-ms",
    type=click.IntRange(1, 3_600_000),
    default=1000,
    show_default=True,
    help="The bots' time for a move, in milliseconds.",
)
def play(
    game: str,
    wanted: tuple[str, ...],
    players: int | None,
    seed: str | None,
    seat: int,
    pairs: tuple[str, ...],
    move_ms: int,
) -> None:
    """Play GAME against bots: doudizhu, dasan, zhengfen or ninefivetwo.

    \b
    Examples:
      stich play doudizhu
      stich play zhengfen --players 4 --with search --option target=200
      stich play dasan --with "node my-bot/bot.mjs" --with greedy --seat 2
    """
    rules = games.get(game)
    count = _seats(rules, players, wanted)
    chosen = seed if seed is not None else secrets.token_hex(4)
    try:
        state = rules.start(count, chosen, _options(pairs))
    except OptionError as error:
        raise click.UsageError(f"{error.field}: {error.message}") from error
    if not 0 <= seat < count:
        raise click.BadParameter(f"sit at 0 to {count - 1}.", param_hint="--seat")
    console = Console(highlight=False)
    clock = Clock(move_ms=move_ms, bank_ms=10 * move_ms)
    others = [place for place in range(count) if place != seat]
    again = _again(game, wanted, count, chosen, seat, pairs)
    try:
        with ExitStack() as stack:
            opponents = gather(seated(wanted, len(others)), clock, stack)
            console.print(
                Text(f"{rules.title}, {count} players. The same again: {again}"), soft_wrap=True
            )
            Sitting(console, state, seat, dict(zip(others, opponents, strict=True))).play()
    except StartError as error:
        click.echo(f"Error: {printable(str(error))}", err=True)
        sys.exit(1)
    except (_Left, EOFError, KeyboardInterrupt):
        console.print(Text(f"\nThe game is left. The same deal again: {again}"), soft_wrap=True)


def _again(
    game: str,
    wanted: Sequence[str],
    players: int,
    seed: str,
    seat: int,
    pairs: Sequence[str],
) -> str:
    """The command that begins the same game."""
    words = ["stich", "play", game, "--players", str(players), "--seed", seed, "--seat", str(seat)]
    for bot in wanted:
        words += ["--with", bot]
    for pair in pairs:
        words += ["--option", pair]
    return shlex.join(words)
