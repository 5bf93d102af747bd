"""`stich duel`: play two bots against each other until one is clearly better."""

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import click
from rich.text import Text

from stich.commands import option
from stich.commands.common import command, stopping
from stich.console.progress import JsonLines, watch
from stich.console.result_tables import make_console, print_table
from tournament.config.cup import Bot, Clock, Cup, RunSettings, remembers
from tournament.formats.duel import Duel
from tournament.formats.seeds import weakness
from tournament.ranking.betting import Bets
from tournament.results.standings import standings
from tournament.run.observer import RunObserver
from tournament.run.resume import only_runner, resume
from tournament.run.roster import Roster
from tournament.run.session import Session
from tournament.run.workers.local_executor import LocalExecutor, tables_at_once
from tournament.store.store import Store
from tournament.text import plural, printable


@dataclass(frozen=True)
class _Options:
    a: Bot
    b: Bot
    game: str
    players: int | None
    deals: int
    within: float | None
    options: Mapping[str, object]
    seed: str | None
    move_ms: int
    bank_ms: int
    concurrency: int
    max_matches: int
    out: str | None
    starting: option.Starting
    as_json: bool


@command
@click.argument("a", type=option.as_bot, metavar="A")
@click.argument("b", type=option.as_bot, metavar="B")
@click.option("--game", required=True, type=option.GAME, help="The game to play.")
@option.number("--players", 2, 6, None, "Number of seats. By default, as few as possible.")
@option.number(
    "--deals", 1, 1_000_000, 1000, "Blocks at most. A block has every mixed seating once."
)
@click.option(
    "--within",
    type=option.FloatRange(0, 1_000_000, min_open=True),
    metavar="POINTS",
    help="End early once the difference is below this many points per deal, with 95 % confidence.",
)
@option.game_options
@click.option("--seed", type=option.as_seed, help="Seed of all deals. By default, a random one.")
@option.number("--move-ms", 1, 600_000, 1000, "Time for each move, in milliseconds.")
@option.number("--bank-ms", 0, 3_600_000, 10_000, "Extra time for a whole match, in milliseconds.")
@option.number("--concurrency", 1, 256, 1, "Tables to play at once.")
@option.max_matches
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(),
    help="Keep the matches in this folder, to resume the duel and to replay matches.",
)
@option.starting
@option.json_lines
def duel(**arguments: Any) -> None:
    """Play two bots against each other until one is clearly better.

    A and B are commands, URLs, or names of reference bots (random, greedy, sensible, search). A
    block is one match in every mixed seating, all with the same deal, so that both bots get the
    same cards. With a bot by URL, which could remember cards, each seating has a new deal instead.
    The duel ends when one bot has more points per deal, with 95 % confidence, when the difference
    is small enough for --within, or when all blocks are played.

    \b
    Examples:
      stich duel sensible greedy --game doudizhu
      stich duel "python mybot.py" http://127.0.0.1:9000 --game zhengfen --players 4 --within 2
    """
    given = _Options(**arguments)
    players, options = option.resolve_options(given.game, given.players, given.options)
    first, second = (replace(bot, max_matches=given.max_matches) for bot in (given.a, given.b))
    if first.name == second.name:
        second = replace(second, name=f"{second.name} (2)")
    cup = Cup(
        name=f"{first.name} against {second.name}",
        game=given.game,
        players=players,
        bots=(first, second),
        seed=given.seed,
        options=options,
        format=Duel(
            deals=given.deals,
            cards=Duel().usual_cards(remembers((first, second))),
            within=given.within,
        ),
        clock=Clock(given.move_ms, given.bank_ms),
        run=RunSettings(concurrency=given.concurrency),
    )
    by_url = " and ".join(bot.name for bot in cup.bots if bot.url is not None)
    if by_url and given.max_matches == 1 < given.concurrency:
        click.echo(f"{by_url}: one table at once; --max-matches N allows N tables.", err=True)
    stored = "Nothing is stored. With --out DIR, the same command could resume the duel."
    if given.out:
        stored = f"Every finished match is kept in {given.out}. Resume with the same command."
    with stopping(f"Stopped. {stored}"):
        play_duel(cup, given.out, given.starting, given.as_json)


def play_duel(
    cup: Cup, out: str | None, starting: option.Starting, as_json: bool, *, warn: bool = True
) -> None:
    """Play or resume a duel, and print its result.

    The format of `cup` must be `Duel`. The matches are kept in the folder `out`, unless `out` is
    None. With `as_json`, progress and result are printed as JSON Lines. `warn` is as in
    `Starting.launch`.

    Raises:
        StichError: if `out` cannot be used or has the run of another cup, if a bot cannot play, if
            the duel cannot continue, or if the sandbox that `starting` demands is not possible.
        KeyboardInterrupt: if the duel is interrupted. The result so far, if any, is then printed.
    """
    with ExitStack() as stack:
        folder = out or stack.enter_context(tempfile.TemporaryDirectory(prefix="stich-duel-"))
        store = stack.enter_context(Store.create(folder))
        if out is None:
            stack.callback(store.forget)
        stack.enter_context(only_runner(store))
        plan = resume(store, cup)
        secret = [store.folder] if store.folder else []
        launch = starting.launch(cup.bots, cup.clock.start_ms, cup.limits, secret, warn=warn)
        executor = LocalExecutor(cup, launch, tables_at_once(cup, plan.blocks))
        with (
            watch(cup.name, as_json=as_json) as observer,
            Session(plan, Roster(cup), executor, store, observer) as session,
        ):
            try:
                session.play(weakness(plan.setup.seed))
            except KeyboardInterrupt:
                if store.count():
                    _report(observer, session.look, store, "stopped")
                raise
        _report(observer, session.look, store, "finished")


def _report(observer: RunObserver, look: Bets | None, store: Store, event: str) -> None:
    """Print the result of a duel. If `observer` writes JSON Lines, write an event instead, which is
    named `event`, "finished" or "stopped". `look` is the latest interim result, or None.

    Raises:
        StoreError: if the store cannot be read.
    """
    table = standings(store)
    if not isinstance(observer, JsonLines):
        print_table(table, store.run())
        for line in table.standings:
            if count := sum(line.faults.values()):
                first = next(
                    f"{fault.kind}: {fault.detail}"
                    for record in store.matches()
                    for fault in record.faults
                    if record.seating[fault.seat] == line.bot
                )
                sentence = f"{printable(line.bot)} had {plural(count, 'fault')}, the first {first}"
                make_console().print(Text(f"{sentence} `stich check` finds out more."))
        return
    ended = "budget" if event == "finished" else event
    if look is not None and (look.settled or look.equal):
        ended = "decided" if look.settled else "no difference"
    observer.tell(
        "",
        event,
        ended=ended,
        better=table.duel.better if table.duel else None,
        difference=round(look.mean, 9) if look else 0.0,
        evidence=look.wealth if look else 1.0,
        **table.to_dict(),
    )
