"""Run the program: `python -m stich`, or `stich` once it is installed."""

from stich.console.interrupts import exit_at_once


def main() -> None:
    """Run `stich.cli.main`. Ctrl-C and SIGTERM end the program even while it is being loaded."""
    exit_at_once()  # first, because loading the rest takes a moment
    from stich.cli import main

    main()


if __name__ == "__main__":
    main()
