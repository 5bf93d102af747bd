"""An HTTP bot in front of a program for DOUDIZHUVER 1.0 (see docs/adapters.md)."""

from pathlib import Path

from bots.adapters import doudizhuver

PROGRAM = ["./their-bot"]
FOLDER = Path(__file__).parent / "program"  # where it runs, and has its files
NAME = "their-bot"

if __name__ == "__main__":
    doudizhuver.serve(PROGRAM, FOLDER, name=NAME, version="0.1")
