"""The environment as a PettingZoo `AECEnv`. The module needs the extra `stich[learn]`."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv

from learning.environment import Environment

_INT16: Final = np.iinfo(np.int16)


class CardGame(Environment, AECEnv):
    """An `Environment`, with the same parameters and `infos`, and with PettingZoo's spaces."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "stich",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }
    render_mode = "ansi"

    def __init__(
        self, game: str, players: int | None = None, options: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(game, players, options)
        size = (self.encoding.size,)
        self.observation_spaces = {
            agent: Box(_INT16.min, _INT16.max, size, np.int16) for agent in self.possible_agents
        }
        self.action_spaces = {agent: Discrete(self.actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Box:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's actions. Legal actions are marked in `infos`."""
        return self.action_spaces[agent]
