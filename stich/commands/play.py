"""`stich play`: play at the terminal, or in the browser, against bots."""

import secrets
import shlex
import signal
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

import games
from games import State
from stich.commands import option
from stich.commands.common import command, stopping
from stich.console import screens
from stich.console.screens import move_text
from stich.processes import find_port, pages_served
from tournament.bot.protocol import Choice
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import Player
from tournament.config.cup import DEFAULT_BOTS, Bot, Clock
from tournament.display.formatting import format_scores, format_winners
from tournament.match.match import Match, MatchObserver, Referee, Rules
from tournament.records import Pairing

_SECRET_MOVES = ("give", "discard")
"""Kinds of moves whose cards only some seats may see. They are shown as in the user's view."""


class _TerminalGame(Player, MatchObserver):
    """A game between the user at one seat and `bots` at the other seats, in the order of these
    seats. The object is both a player of the match, which asks the user for moves, and the match's
    observer, which prints what happens."""

    url = "at the terminal"

    def __init__(self, console: Console, state: State, seat: int, bots: Sequence[Bot]) -> None:
        self._console = console
        self._state = state
        self._seat = seat
        self._names = [f"{bot.name} ({place + (place >= seat)})" for place, bot in enumerate(bots)]
        self._names.insert(seat, "you")

    def play(self, bots: Sequence[Player], clock: Clock) -> None:
        """Play the game to its end against `bots`, in the order of their seats. Print the result.

        Raises:
            EOFError: if the user quits.
        """
        state = self._state
        rules = Rules(state.game.name, state.players, state.options, clock)
        pairing = Pairing.alone(secrets.token_hex(4), self._names, state.seed)
        players = [*bots[: self._seat], self, *bots[self._seat :]]
        Match(rules, pairing, Referee(), players, observer=self).play()
        scores = self._state.scores
        seats = zip(self._names, scores, strict=True)
        winners = format_winners([name for name, score in seats if score == max(scores)])
        self._console.print(Text(f"Final scores: {format_scores(self._names, scores)}"))
        self._console.print(Text(f"The game is over. {winners}.", style="bold"))

    def failed(self, seat: int, why: str) -> None:
        sentence = f"{self._names[seat]} failed; a default move is played: {why}"
        self._console.print(Text(sentence, style="yellow"))

    def moved(self, seat: int, move: str, forced: bool) -> None:
        before, made = self._state, self._state.check(move)
        self._state = before.advance(made)
        shown = made.text
        if made.kind in _SECRET_MOVES:
            shown = self._state.view(self._seat).to_dict()["history"][-1]["move"]
        line = Text(f"{self._names[seat]}: ").append_text(move_text(shown))
        if made.category not in (None, "card"):  # in 9-5-2, all plays are of one category
            line.append(f" ({made.category})")
        if forced and seat == self._seat:  # for others this would reveal their cards
            line.append("  your only legal move", style="dim")
        self._console.print(line)
        for result in self._state.results[len(before.results) :]:
            points = format_scores(self._names, result["scores"])
            self._console.print(Text(f"Deal {result['deal']} is over: {points}.", style="bold"))

    def move(self, body: bytes, seconds: float) -> Choice:
        """Show the position, and ask the user, without a time limit, until a legal move is typed.
        Return this move. The arguments are ignored.

        Raises:
            EOFError: if the user quits.
        """
        view = self._state.view(self._seat)
        moves = view.moves()
        self._console.print(screens.position(view.to_dict(), self._names, view.game.title))
        self._console.print(screens.menu(screens.groups(moves)))
        while True:
            typed = self._console.input("[b]your move[/b] (? helps): ").strip()
            try:
                if typed in ("q", "quit", "exit"):
                    raise EOFError
                if typed in ("?", "help"):
                    self._console.print(screens.HELP)
                elif typed.startswith("/"):
                    wanted = screens.groups(moves, typed[1:].strip())
                    self._console.print(screens.menu(wanted, limit=None))
                elif not typed and len(moves) > 1:
                    self._console.print(screens.menu(screens.groups(moves)))
                else:
                    move = screens.choose(view, "pass" if typed == "p" else typed or "1")
                    return Choice(move.text, 0.0)
            except screens.InputError as error:
                self._console.print(Text(str(error), style="red"))


@command
@click.argument("game", type=option.GAME, metavar="GAME")
@click.option(
    "--with",
    "wanted",
    multiple=True,
    metavar="BOT",
    type=option.as_bot,
    default=DEFAULT_BOTS,
    show_default=True,
    help="An opponent: random, greedy, sensible, search, a URL or a command. Can be repeated. If"
    " there are too few opponents, they take further seats in turn.",
)
@option.number(
    "--players", 2, 6, None, "Seats, including yours. By default, yours and one for each bot."
)
@click.option(
    "--seed",
    "chosen",
    type=option.as_seed,
    default=lambda: secrets.token_hex(4),
    help="The seed of all deals. By default, a new random one, which is shown.",
)
@click.option(
    "--seat", type=int, default=0, show_default=True, metavar="N", help="Your seat, from 0."
)
@option.game_options
@option.number("--move-ms", 1, 3_600_000, 1000, "Time of a bot for each move, in milliseconds.")
@option.flag("--browser", help="Play on a card table in the browser instead.")
@option.number("--port", 0, 65535, 8000, "With --browser: port of the pages. 0 picks a free port.")
@option.starting
def play(
    game: str,
    wanted: tuple[Bot, ...],
    players: int | None,
    chosen: str,
    seat: int,
    options: dict[str, object],
    move_ms: int,
    browser: bool,
    port: int,
    starting: option.Starting,
) -> None:
    """Play a game against bots. GAME is doudizhu, dasan, zhengfen or ninefivetwo.

    \b
    Examples:
      stich play doudizhu
      stich play dasan --browser
      stich play zhengfen --with search --with "node my-bot/bot.mjs" --seat 2
    """
    context = click.get_current_context()
    given = {
        name
        for name in context.params
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    if browser:
        if given - {"game", "browser", "port"}:
            raise click.UsageError("With --browser, use only --port; choose the rest on the page.")
        with pages_served("127.0.0.1", find_port("127.0.0.1", port)) as url:
            webbrowser.open(f"{url}/play#{game}")
            with suppress(KeyboardInterrupt):
                signal.pause()
        return
    if "port" in given:
        raise click.UsageError("--port needs --browser.")
    rules = games.get(game)
    # By default, as many seats as the named bots need.
    seats = players or max(rules.min_players, min(len(wanted) + 1, rules.max_players))
    count, resolved = option.resolve_options(game, seats, options)
    if len(wanted) > count - 1:
        why = f"{len(wanted)} bots are too many: besides yours there are {count - 1} seats."
        raise click.BadParameter(why, param_hint="--with")
    state = rules.start(count, chosen, resolved)
    if not 0 <= seat < count:
        raise click.BadParameter(f"must be 0 to {count - 1}.", param_hint="--seat")
    console = Console(highlight=False)
    clock = Clock(move_ms=move_ms, bank_ms=10 * move_ms)
    bots = [wanted[place % len(wanted)] for place in range(count - 1)]
    again = f"To play the same deal, add --seed {shlex.quote(chosen)}."
    stopped = f"You quit. {again}"
    with stopping(stopped), ExitStack() as stack:
        launch = starting.launch(bots, clock.start_ms)
        opponents = [stack.enter_context(closing(reach(bot, launch))) for bot in bots]
        console.print(Text(f"{rules.title}, {count} players. {again}"), soft_wrap=True)
        try:
            _TerminalGame(console, state, seat, bots).play(opponents, clock)
        except EOFError:
            console.print(Text(f"\n{stopped}"), soft_wrap=True)
