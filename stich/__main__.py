"""Run the program: `python -m stich`, or `stich` once it is installed."""

from stich.console.interrupts import exit_at_once


def main() -> None:
    """Run the program, and exit with the exit code of the command."""
    exit_at_once()  # first, because loading the rest takes a moment
    from stich.cli import main

    main()


if __name__ == "__main__":
    main()
