"""Learning from the games: self-play, and arrays. Users import everything from `stich.env`."""
