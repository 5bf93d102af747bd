"""What is made of the store: standings, replays, reports, exports, verification."""
