"""An HTTP bot in front of an agent of RLCard; docs/adapters.md has more."""

from bots.adapters import rlcard_agent

PROGRAM = ["module:name"]  # before it, if need be, the Python that has RLCard: "/venv/bin/python"
FOLDER = "."  # where it runs

if __name__ == "__main__":
    rlcard_agent.serve(PROGRAM, FOLDER, name="my-rlcard-bot", version="0.1")
