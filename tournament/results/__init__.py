"""Results computed from the store: standings, courses, integrity, exports, verification."""
