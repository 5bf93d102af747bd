"""Run the program: `python -m stich`, or `stich` once it is installed."""

from stich.console.interrupts import exit_at_once


def main() -> None:
    """Run the program. Its exit code is that of the command."""
    exit_at_once()  # before anything else is loaded, which takes a moment
    from stich.cli import main

    main()


if __name__ == "__main__":
    main()
