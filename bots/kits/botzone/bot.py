"""An HTTP bot in front of a program for Botzone's Dou Dizhu (see docs/adapters.md)."""

from pathlib import Path

from bots.adapters import botzone

PROGRAM = ["./their-bot"]
FOLDER = Path(__file__).parent / "program"  # where it runs, and has its files
NAME = "their-bot"
AUCTION = True  # False: a program for FightTheLandlord (1), which does not bid

if __name__ == "__main__":
    botzone.serve(PROGRAM, FOLDER, name=NAME, version="0.1", auction=AUCTION)
