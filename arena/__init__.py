"""Live pages of a run, games against bots in the browser, and the gateway of bots that connect.

Nothing here writes to the store of a run.
"""
