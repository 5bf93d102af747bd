"""The benchmark of one bot: fixed deals and opponents, and what `sensible` makes of them."""
