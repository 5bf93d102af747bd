"""The pages of a run: standings, bots and matches, live. They read its store and write nothing."""
