"""Run the tournament's part of the program: `python -m tournament`."""

from stich.commands.tournament import main
from stich.console.stdout import guarded

with guarded():
    main()
