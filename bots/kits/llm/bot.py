"""A language model as a bot. Edit prompt.md and settings.toml; this file needs no change."""

from pathlib import Path

from bots import llm  # Stich must be installed in the Python that runs this

if __name__ == "__main__":
    llm.run(Path(__file__).parent)
