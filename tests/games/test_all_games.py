import json
import random
import re
from collections import Counter
from importlib.metadata import distribution
from itertools import islice
from typing import Any

import pytest

import games
from games import IllegalMove, Position
from games.errors import Reason
from tests.support.games.playing import reason
from tests.support.games.random_games import IDS, TABLES, permuted, random_game

Wire = dict[str, Any]
PIECES = ["pass", "bid:1", "bid:3", "trump:h", "call:4c", "call:7h", "call:3d", "give:", "discard:"]


def played(wire: Wire) -> list[str]:
    plays = [entry["move"][5:] for entry in wire["history"] if entry["move"].startswith("play:")]
    return [card for play in plays for card in re.findall("..", play.partition("=")[0])]


def outside_hands(wire: Wire) -> list[str]:
    if "taken" in wire:
        return [*wire["trick"], *(card for cards in wire["taken"] for card in cards)]
    talon = wire["talon"] if wire.get("declarer") is None else []
    given = [card for pair in wire.get("owed", ()) for card in pair["given"]]
    return [*played(wire), *talon, *wire.get("discards", ()), *given]


def is_fair(name: str, result: Wire) -> bool:
    scores: list[int] = result["scores"]
    if name == "ninefivetwo":
        pairs = zip(result["tricks"], result["targets"], strict=True)
        return scores == [max(0, tricks - target) for tricks, target in pairs]
    if name == "zhengfen":
        return sum(scores) == 100 and min(scores) >= 0
    return sum(scores) == 0


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
@pytest.mark.parametrize("number", range(4))
def test_cards_are_conserved_and_scores_add_up(name: str, players: int, number: int) -> None:
    deck = Counter(games.get(name).deck(players).cards)
    before: Wire = {}
    states = [(state, json.dumps(state.to_dict())) for state in random_game(name, players, number)]
    for state, text in states:
        wire = state.to_dict()
        assert json.dumps(wire) == text, "advancing does not change a state"
        held = Counter(card for hand in wire["hands"] for card in hand)
        assert held + Counter(outside_hands(wire)) == deck
        results = wire["results"]
        assert all(is_fair(name, result) for result in results)
        totals = [sum(result["scores"][seat] for result in results) for seat in range(players)]
        assert totals == wire["scores"]
        numbers = [result["deal"] for result in results]
        assert numbers == sorted(set(numbers))
        assert len(results) <= wire["options"]["deals"]
        if before:
            assert results[: len(before["results"])] == before["results"]
            assert wire["deal"] - before["deal"] in (0, 1)
            if wire["deal"] == before["deal"]:
                assert wire["history"][:-1] == before["history"]
                assert wire["history"][-1]["seat"] == before["turn"]
            else:
                assert wire["history"] == []
        before = wire
    assert before["phase"] == "over"
    assert before["results"]


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_lists_are_in_order_canonical_and_legal(name: str, players: int) -> None:
    rng = random.Random(7)
    for number in range(2):
        for state in random_game(name, players, number):
            moves = state.moves()
            texts = moves.texts()
            assert len(moves) == len(texts) == len(set(texts))
            assert [move.text for move in moves] == texts
            if not texts:
                assert state.turn is None
                continue
            assert moves[-1] == texts[-1]
            with pytest.raises(IndexError):
                moves[len(moves)]
            keys = [order(state, move.text) for move in islice(moves, 300)]
            assert keys == sorted(keys)
            for place in rng.sample(range(len(texts)), min(4, len(texts))):
                text = texts[place]
                assert moves[place].text == text
                assert state.check(text).text == text
                assert state.check(shuffled(text, rng)).text == text


def order(position: Position, text: str) -> tuple[Any, ...]:
    kind, _, rest = text.partition(":")
    deck = position.game.deck(position.players)
    cards = re.findall("..", rest.partition("=")[0])
    if kind == "play":
        move = position.check(text)
        names = [category.name for category in position.game.categories]
        assert move.rank in deck.ranks
        assert move.category in names
        rank, category = deck.ranks.index(move.rank), names.index(move.category)
        places = [deck.number[card] for card in cards]
        assert places == sorted(places)
        return (3, len(cards), rank, category, places)
    if kind in ("call", "give", "discard"):
        return (2, [deck.number[card] for card in cards])
    return (1, rest) if rest else (0,)


def shuffled(text: str, rng: random.Random) -> str:
    match = re.fullmatch("((?:play|give|discard):)([^=]*)(.*)", text)
    if match is None:
        return text
    cards = re.findall("..", match[2])
    return match[1] + "".join(rng.sample(cards, len(cards))) + match[3]


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
@pytest.mark.parametrize("number", range(2))
def test_wire_forms_can_be_read_back(name: str, players: int, number: int) -> None:
    game, rng = games.get(name), random.Random(5)
    for state in islice(random_game(name, players, number), number, None, 2):
        wire = json.loads(json.dumps(state.to_dict()))
        mixed = wire | {"hands": [rng.sample(hand, len(hand)) for hand in wire["hands"]]}
        for field in ("talon", "discards", "trick"):
            if wire.get(field) and isinstance(wire[field][0], str):
                mixed[field] = rng.sample(wire[field], len(wire[field]))
        again = game.state(mixed)
        assert again.to_dict() == wire == state.to_dict()
        texts = state.moves().texts()
        assert again.moves().texts() == texts
        hidden = {"seed", "hands"}
        for seat in (-1, players):
            with pytest.raises(ValueError, match=f"no seat {seat}"):
                state.view(seat)
        for seat in (*range(players), None):
            sent = json.loads(json.dumps(state.view(seat).to_dict()))
            assert sent.keys() == (wire.keys() - hidden) | {"seat", "hand", "counts"}
            assert sent["hand"] == ([] if seat is None else wire["hands"][seat])
            assert sent["counts"] == [len(hand) for hand in wire["hands"]]
            assert again.view(seat).to_dict() == sent
            seen = game.view(sent)
            assert seen.to_dict() == sent
            assert seen.moves().texts() == (texts if seat == state.turn else [])
            if seat != state.turn or seat is None:
                assert reason(seen, "pass") == ("not-your-turn" if texts else "game-over")


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
@pytest.mark.parametrize("number", range(2))
def test_hidden_cards_do_not_change_a_view(name: str, players: int, number: int) -> None:
    """Cards that do not occur in a view are exchanged for one another: the view stays the same."""
    rng = random.Random(number)
    game = games.get(name)
    names = tuple(dict.fromkeys(game.deck(players).cards))
    changed = 0
    for step, state in enumerate(random_game(name, players, number)):
        if step % 4:
            continue
        wire = state.to_dict()
        for seat in (*range(players), None):
            view = state.view(seat).to_dict()
            renamed = permuted(state, seat, rng).to_dict()
            if game.deck(players).packs > 1:
                mix_hands(renamed, seat, rng)
            changed += renamed["hands"] != wire["hands"]
            other = game.state(renamed)
            assert other.view(seat).to_dict() == view
            if seat is not None and seat == state.turn:
                assert other.moves().texts() == state.moves().texts()
                sets = [rng.sample(names, rng.randrange(1, 5)) for _ in range(5)]
                plays = ["play:" + "".join(cards) for cards in sets]
                for move in (*PIECES, "give:4h", "discard:4h", *plays):
                    assert verdict(other, move) == verdict(state, move)
    assert changed > 10


def verdict(position: Position, move: str) -> str:
    try:
        return f"legal: {position.check(move)}"
    except IllegalMove as error:
        return str(error)


def mix_hands(wire: Wire, seat: int | None, rng: random.Random) -> None:
    """Dou Dizhu with two packs: mix the hands of others, so that one copy of a card moves."""
    loose = [other for other in range(4) if other not in (seat, wire["declarer"])]
    pool = [card for other in loose for card in wire["hands"][other]]
    rng.shuffle(pool)
    for other in loose:
        size = len(wire["hands"][other])
        wire["hands"][other], pool = pool[:size], pool[size:]


@pytest.mark.parametrize("number", range(3))
def test_who_holds_the_called_card_is_unknown_until_it_is_played(number: int) -> None:
    compared = 0
    for state in random_game("dasan", 4, number):
        wire = state.to_dict()
        called, partner = wire.get("called"), wire.get("partner")
        if called is None or partner is None or called in played(wire) or state.turn is None:
            continue
        assert state.view(partner).to_dict()["partner"] == partner
        for seat in {0, 1, 2, 3, None} - {partner}:
            view = state.view(seat).to_dict()
            assert view["partner"] is None
            for other in set(range(4)) - {seat, partner, wire["declarer"]}:
                mixed = json.loads(json.dumps(wire)) | {"partner": other}
                away, instead = mixed["hands"][partner], mixed["hands"][other]
                away[away.index(called)], instead[0] = instead[0], called
                assert games.get("dasan").state(mixed).view(seat).to_dict() == view
                compared += 1
    assert compared


@pytest.mark.parametrize("name", games.GAMES)
def test_options_at_and_beyond_their_limits(name: str) -> None:
    game = games.get(name)
    wrong: list[tuple[str, tuple[Any, str, dict[str, Any]]]] = [
        *[("players", (n, "x", {})) for n in (game.min_players - 1, game.max_players + 1)],
        *[("seed", (None, seed, {})) for seed in ("", "x" * 129)],
    ]
    for option in game.options:
        good: list[Any] = [True, False]
        bad: list[Any] = ["1", 1.0, [], 0, 1]
        if option.minimum is not None and option.maximum is not None:
            good = [option.minimum, option.maximum]
            bad = ["1", 1.0, [], option.minimum - 1, option.maximum + 1, True]
        (good if option.nullable else bad).append(None)
        for value in good:
            assert game.start(None, "x", {option.name: value}).options[option.name] == value
        wrong += [(f"options.{option.name}", (None, "x", {option.name: value})) for value in bad]
    for field, arguments in wrong:
        with pytest.raises(games.OptionError) as error:
            game.start(*arguments)
        assert error.value.field == field
    assert game.start(None, "🂡" * 128, {}).players == game.min_players


@pytest.mark.parametrize(
    ("game", "players"), [("doudizhu", 3), ("doudizhu", 4), ("dasan", 3), ("zhengfen", 4)]
)
def test_a_refusal_names_every_kind_of_play_that_is_legal(game: str, players: int) -> None:
    dice = random.Random(1)
    refusals: list[tuple[str, set[str]]] = []
    for seed in range(8):
        state = games.get(game).start(players, str(seed), {"deals": 1})
        while state.turn is not None:
            moves = list(state.moves())
            for card in state.to_dict()["hands"][state.turn] if state.table else ():
                try:
                    state.check(f"play:{card}")
                except IllegalMove as error:
                    if error.reason == Reason.WRONG_CATEGORY:
                        kinds = {move.category for move in moves if move.category}
                        refusals.append((error.detail, kinds))
            state = state.advance(dice.choice(moves))
    assert len(refusals) > 100
    for detail, kinds in refusals:
        assert all(kind in detail for kind in {"cannot beat", *kinds}), detail


def test_rules_are_compiled_in_a_wheel_for_one_platform_only() -> None:
    """An editable install, like a pure wheel, is for every platform."""
    tags = distribution("stich").read_text("WHEEL") or ""
    assert ("Root-Is-Purelib: false" in tags) == games.COMPILED
