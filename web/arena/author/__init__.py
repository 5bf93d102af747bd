"""What the author of a bot sees, by the token of the bot: its faults, whole."""
