"""Run the program: `python -m stich`."""

from stich.cli import main

main()
