"""Games of a user against bots in the browser. These games never count."""
