"""What the report and the pages share: the card table, plots, replays, numbers as text."""
