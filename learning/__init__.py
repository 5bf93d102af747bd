"""Learning from the games: self-play, and positions and moves as arrays.

`learning.encoding` turns views and moves into arrays. `learning.environment` plays games step by
step with the methods of PettingZoo's AEC interface, and `learning.aec` makes the environment an
`AECEnv`. Users import everything from `stich.env`.
"""
