"""What people see of a run: reports, plots, replays, post-mortems, and numbers as text."""
