"""Live pages of a run, the pages of authors, and games against bots in the browser."""
