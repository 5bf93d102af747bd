"""More matches at once than an adapter keeps programs for."""

import games
from bots.adapters.adapter import AdaptedProgram, Adapter
from bots.adapters.deal import Answer, Deal
from tests.support.bots.foreign import OPTIONS

STATE = games.get("doudizhu").start(3, "first", OPTIONS)


def test_a_program_is_not_stopped_while_it_answers() -> None:
    asked: list[AdaptedProgram] = []
    stopped: list[AdaptedProgram] = []

    class Program(AdaptedProgram):
        def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
            asked.append(self)
            if len(asked) == 1:
                assert [ask(number) for number in range(20)] == ["bid:3"] * 20
                assert self not in stopped
            return 3, ""

        def stop(self) -> None:
            stopped.append(self)

    assert STATE.turn is not None
    moves, view = STATE.moves().texts(), STATE.view(STATE.turn).to_dict()
    bot = Adapter(lambda: Program([]), auction=True)

    def ask(match: int) -> str:
        request = {"match": match, "clock": {"move_ms": 60_000, "bank_ms": 0}}
        return bot.move(view, moves, request)[0]

    assert ask(-1) == "bid:3"
    assert stopped == asked[1:6]
