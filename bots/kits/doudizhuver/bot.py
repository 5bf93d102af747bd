"""An HTTP bot in front of a program for DOUDIZHUVER 1.0; docs/adapters.md has more."""

from bots.adapters import doudizhuver

PROGRAM = ["./their-bot"]
FOLDER = "."  # where it runs

if __name__ == "__main__":
    doudizhuver.serve(PROGRAM, FOLDER, name="my-doudizhuver-bot", version="0.1")
