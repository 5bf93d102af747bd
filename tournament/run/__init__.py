"""A run: workers play blocks, and the runner commits each match."""
