"""Self-play: games played step by step, with PettingZoo's AEC interface but without PettingZoo."""

from collections.abc import Iterator, Mapping
from secrets import token_hex
from typing import Any

import numpy as np

import games
from games import State
from learning.encoding import Encoding, Observation

Info = dict[str, Any]


class Environment:
    """A game that the agents `seat_0`, `seat_1` … play. Call `reset`, then `step` for each action.

    An action is an index into the list of legal moves. As in a cup, an agent is asked only if it
    has more than one legal move. When a deal ends, each agent's reward is its points in the deal.
    `players` defaults to the game's minimum.

    `infos` has two entries for the agent to move: `action_mask`, a read-only int8 array with 1 for
    each legal action and 0 for all others, and `moves`, an array with a row for each legal move
    (see `Encoding.rows`).

    Attributes:
        encoding: the encoder of observations and moves, which names their parts.
        actions: the number of actions, an upper bound on the number of legal moves.
        moves: the legal moves of the agent to move. Set by `reset` and `step`.
        position: the complete position, which no agent should see. Set by `reset` and `step`.

    Raises:
        UnknownGame: if there is no such game.
        OptionError: if the number of players or an option is not valid.
    """

    agent_selection: str

    def __init__(
        self, game: str, players: int | None = None, options: Mapping[str, object] | None = None
    ) -> None:
        self._game = games.get(game)
        self._options = dict(options or {})
        self._players, _ = self._game.resolve_options(players, "-", self._options)
        self.encoding = Encoding(game, self._players)
        self.actions = self._game.most_moves(self._players)
        self.possible_agents = [f"seat_{seat}" for seat in range(self._players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._mask = np.repeat(np.array([1, 0], np.int8), self.actions)
        self._mask.flags.writeable = False
        self._series, self._played = token_hex(16), 0
        self.agents: list[str] = []

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game, and play forced moves until an agent has a choice.

        A seed starts a series of games. A reset without a seed starts the next game of the series.
        Before the first seed, the series is random. `options` has no effect.
        """
        if seed is not None:
            self._series, self._played = str(seed), 0
        self.position: State = self._game.start(
            self._players, f"{self._series}/{self._played}", self._options
        )
        self._played += 1
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Info] = {agent: {} for agent in self.agents}
        self._go_on()

    def step(self, action: int | None) -> None:
        """Play the legal move with this index, and then all forced moves.

        After the end of the game, a step removes the agent to move, and `action` must be None.

        Raises:
            ValueError: if the agent to move has no such action.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            if action is not None:
                raise ValueError(f"The game is over for {agent}: its only action is None.")
            self.agents.remove(agent)
            del self._cumulative_rewards[agent], self.infos[agent]
            del self.terminations[agent], self.truncations[agent]
            self.rewards = dict.fromkeys(self.agents, 0)
            if self.agents:
                self.agent_selection = self.agents[0]
            return
        if action is None or action not in range(len(self.moves)):
            raise ValueError(
                f"{agent} has the actions 0 to {len(self.moves) - 1}, and not {action!r}."
            )
        self.infos[agent] = {}
        self._cumulative_rewards[agent] = 0
        before = self.position.scores
        self.position = self.position.advance(self.moves[int(action)])
        self._go_on()
        for seat, name in enumerate(self.agents):
            reward = self.rewards[name] = self.position.scores[seat] - before[seat]
            self._cumulative_rewards[name] += reward

    def _go_on(self) -> None:
        """Play forced moves, then set `moves`, `agent_selection`, and the `infos` of that agent.

        At the end of the game, set `terminations` instead of `infos`.
        """
        state = self.position
        moves = state.moves()
        while len(moves) == 1:
            state = state.advance(moves[0])
            moves = state.moves()
        self.position, self.moves = state, moves
        if state.turn is None:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
            return
        self.agent_selection = self.possible_agents[state.turn]
        start = self.actions - len(moves)
        self.infos[self.agent_selection] = {
            "action_mask": self._mask[start : start + self.actions],
            "moves": self.encoding.rows(self.encoding.encode_moves(moves)),
        }

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation, an int16 array whose slices `encoding.parts` names."""
        encoding = self.encoding
        return encoding.observation(encoding.encode(self.position.view(self._seats[agent])))

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, Info]:
        """Return the observation, reward, termination, truncation and info of the agent to move.

        The reward is the total since the agent's last step. The observation is None if `observe` is
        False. The truncation is always False.
        """
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the agent to move until all agents are removed, at most `max_iter` times.

        The caller must call `step` each time.
        """
        while self.agents and max_iter > 0:
            yield self.agent_selection
            max_iter -= 1

    def render(self) -> str:
        """Return the position and the legal moves in words, as the agent to move knows them."""
        view = self.position.view(self._seats[self.agent_selection])
        return games.describe(view, self.moves)

    def close(self) -> None:
        """Do nothing: an environment holds no resources."""
