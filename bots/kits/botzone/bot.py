"""An HTTP bot in front of a program for Botzone's Dou Dizhu; docs/adapters.md has more."""

from bots.adapters import botzone

PROGRAM = ["./their-bot"]
FOLDER = "."  # where it runs
AUCTION = True  # False: a program for FightTheLandlord (1), which does not bid

if __name__ == "__main__":
    botzone.serve(PROGRAM, FOLDER, name="my-botzone-bot", version="0.1", auction=AUCTION)
