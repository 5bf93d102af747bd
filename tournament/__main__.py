"""Run the tournament's part of the program: `python -m tournament`."""

from tournament.cli import main
from tournament.output import guarded

with guarded():
    main()
