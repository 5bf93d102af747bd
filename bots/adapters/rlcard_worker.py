"""Asks an agent of RLCard: a state of `bots.adapters.rlcard_agent` a line, an action a line.

    python rlcard_worker.py module:name

The name is an agent, a list of three (landlord, the seat after it, the one before it), an object
with such `agents`, or a class or function without arguments that makes one of these. Runs alone,
in a Python that has RLCard and need not have Stich.
"""

import importlib
import json
import os
import sys
import traceback
from typing import Any

READY = "ready"


def load(where: str) -> list[Any]:
    """The agents of the landlord and of the two seats after it."""
    module, _, name = where.partition(":")
    found = getattr(importlib.import_module(module), name)
    if callable(found) and (isinstance(found, type) or not hasattr(found, "eval_step")):
        found = found()
    found = getattr(found, "agents", found)
    return list(found) if isinstance(found, list | tuple) else [found] * 3


def main() -> None:
    """Answer until the end of stdin."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what an agent prints is no answer
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
