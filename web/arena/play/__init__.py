"""Games of a person against bots in the browser. These games never count."""
