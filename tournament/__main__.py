"""Run the program as `python -m tournament`."""

# The one place where the tournament imports the program: its users were promised this entry point.
from stich.__main__ import main

if __name__ == "__main__":
    main("python -m tournament")
