"""Learning from the games: self-play, and positions and moves as arrays.

`learning.encoding` turns what a seat may know into arrays, `learning.environment` plays games in
steps as PettingZoo's AEC interface has them, `learning.aec` makes that an `AECEnv`. Everything that
users need is in `stich.env`.
"""
