"""A program that asks an RLCard agent for actions.

    python rlcard_worker.py module:name

Each line of stdin is a state as `bots.adapters.rlcard_agent` writes it, and each line of stdout an
action. The name stands for an agent, for a list of three agents (the landlord, the seat after the
landlord, the seat before), for an object with such a list in `agents`, or for a class or function
that returns any of these. The Python that runs the program has RLCard and need not have Stich.
"""

import importlib
import json
import os
import sys
import traceback
from typing import Any

READY = "ready"


def load(where: str) -> list[Any]:
    """Return the agents of the landlord and of the two seats after the landlord, in this order.

    `where` is `module:name`, as in the module docstring. Exceptions raised by the agent's code pass
    through too.

    Raises:
        ImportError: if the module cannot be imported.
        AttributeError: if the module does not have the name.
    """
    module, _, name = where.partition(":")
    agent = getattr(importlib.import_module(module), name)
    if callable(agent) and (isinstance(agent, type) or not hasattr(agent, "eval_step")):
        agent = agent()
    agent = getattr(agent, "agents", agent)
    return list(agent) if isinstance(agent, list | tuple) else [agent] * 3


def main() -> None:
    """Load the agent that the command line names, write `READY`, and answer lines until stdin ends.

    What the agent itself prints goes to stderr. If the agent or RLCard cannot be loaded, write the
    error to stdout and exit with status 1. An exception during play ends the program.
    """
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    sys.path[0] = os.getcwd()
    try:
        import rlcard

        agents, environment = load(sys.argv[1]), rlcard.make("doudizhu")
    except Exception as error:
        traceback.print_exc()
        out.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)
    out.write(READY + "\n")
    for line in sys.stdin:
        state = json.loads(line)
        state["trace"] = [tuple(step) for step in state["trace"]]
        environment.game.state, environment.action_recorder = state, state["trace"]
        agent = agents[state["self"]]
        action, _ = agent.eval_step(environment._extract_state(state))
        if not agent.use_raw:
            action = environment._decode_action(action)
        out.write(f"{action}\n")


if __name__ == "__main__":
    main()
