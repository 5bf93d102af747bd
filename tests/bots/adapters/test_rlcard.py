"""Agents of RLCard, by a stand-in and in slow tests by RLCard itself; and many matches at once."""

import sys
from pathlib import Path

import pytest

import games
from bots.adapters import rlcard_agent, rlcard_worker
from bots.adapters.adapter import AdaptedProgram, Adapter
from bots.adapters.deal import Answer, Deal
from tests.support.bots.foreign import OPTIONS, RLCARD, assert_sensible_plays, documented, play

AGENTS = """
class Raw:
    use_raw = True
    def eval_step(self, state):
        print("thinking aloud")
        return state["raw_obs"]["actions"][-1], {}

class Numbered:
    use_raw = False
    def eval_step(self, state):
        return max(state["legal_actions"]), {}

class Position(Raw):
    def __init__(self, position):
        self.position = position
    def eval_step(self, state):
        assert state["raw_obs"]["self"] == self.position
        return super().eval_step(state)

class Model:
    agents = [Position(0), Position(1), Position(2)]

agent, illegal, raises = Raw(), Raw(), Raw()
agents = (agent, Numbered(), agent)
illegal.eval_step = lambda state: ("3456", [])
raises.eval_step = lambda state: 1 / 0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rlcard.py").write_text(RLCARD)
    (tmp_path / "agents.py").write_text(AGENTS)
    return tmp_path


def session(name: str, folder: Path) -> rlcard_agent.Agent:
    return rlcard_agent.Agent([sys.executable, rlcard_worker.__file__, name], folder)


def test_the_state_of_the_documented_position() -> None:
    played = ("TTTA", "pass", "pass", "3", "4", "R", "pass", "pass", "34567")
    assert rlcard_agent.raw_state(documented()) == {
        "seen_cards": "7",  # 3 and A were played
        "landlord": 0,
        "trace": [*zip([0, 1, 2] * 3, played, strict=True)],
        "played_cards": ["3TTTA", "4", "34567R"],
        "self": 0,
        "current_hand": "456677889JJKKA2",
        "others_hand": "334556788999TJJQQQQKKAA222B",
        "num_cards_left": [15, 16, 11],
        "actions": ["pass", "45678", "56789"],
    }


@pytest.mark.parametrize("name", ["Raw", "Model", "agents"])
def test_whole_games(folder: Path, name: str) -> None:
    agent = session(f"agents:{name}", folder)
    for seat in range(3):
        _, sums = play(Adapter(lambda: agent, auction=False), "whole", seat)
        assert sums["fallback"] == 0, sums
    agent.stop()


@pytest.mark.parametrize(
    ("name", "kind"), [("illegal", "illegal"), ("raises", "ended"), ("none", "ended")]
)
def test_sensible_plays_for_an_agent_that_fails(folder: Path, name: str, kind: str) -> None:
    agent = session(f"agents:{name}", folder)
    assert_sensible_plays(Adapter(lambda: agent, auction=False), kind, "bid:3")


STATE = games.get("doudizhu").start(3, "many", OPTIONS).advance("bid:3")
VIEW, MOVES = STATE.view(STATE.turn).to_dict(), STATE.moves().texts()


def assert_no_fallback(adapter: Adapter, match: str) -> None:
    request = {"match": match, "clock": {"move_ms": 60_000, "bank_ms": 0}}
    assert adapter.move(VIEW, MOVES, request)[2] is None


def test_more_matches_than_are_kept_do_not_end_the_agent(folder: Path) -> None:
    (folder / "agents.py").write_text(f'open("loads", "a").write("x")\n{AGENTS}')
    agent = session("agents:agent", folder)
    adapter = Adapter(lambda: agent, auction=False)
    for match in range(18):
        assert_no_fallback(adapter, str(match))
    agent.stop()
    assert (folder / "loads").read_text() == "x"


def test_a_program_is_not_stopped_while_it_answers() -> None:
    asked: list[AdaptedProgram] = []
    stopped: list[AdaptedProgram] = []

    class Program(AdaptedProgram):
        def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
            asked.append(self)
            if len(asked) == 1:
                for match in range(20):
                    assert_no_fallback(adapter, str(match))
                assert self not in stopped
            return [VIEW["hand"][0]], ""

        def stop(self) -> None:
            stopped.append(self)

    adapter = Adapter(lambda: Program([]), auction=True)
    assert_no_fallback(adapter, "first")
    assert stopped == asked[1:6]


RULES = "rlcard.models.doudizhu_rule_models:DouDizhuRuleModelV1"


@pytest.mark.slow
@pytest.mark.parametrize("name", [RULES, "agents:agent"])
def test_agents_of_rlcard_play(tmp_path: Path, name: str) -> None:
    pytest.importorskip("rlcard", reason="RLCard is not installed: pip install rlcard==1.2.0")
    random = "from rlcard.agents import RandomAgent\nagent = RandomAgent(27472)\n"
    (tmp_path / "agents.py").write_text(random)
    agent = session(name, tmp_path)
    for seat in range(3):
        _, sums = play(Adapter(lambda: agent, auction=False), "whole", seat)
        assert sums["fallback"] <= 1, sums
        assert sums["asked"] > 0
    agent.stop()
