"""A run: workers play blocks, the runner commits each match."""
