"""The benchmark of one bot: fixed deals, fixed opponents, and the results of `sensible` as par."""
