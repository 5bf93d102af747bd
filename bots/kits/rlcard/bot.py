"""An HTTP bot in front of an RLCard agent (see docs/adapters.md)."""

from pathlib import Path

from bots.adapters import rlcard_agent

PROGRAM = ["module:name"]  # before it, if need be, the Python that has RLCard: "/venv/bin/python"
FOLDER = Path(__file__).parent / "program"  # where it runs, and has its files
NAME = "their-bot"

if __name__ == "__main__":
    rlcard_agent.serve(PROGRAM, FOLDER, name=NAME, version="0.1")
