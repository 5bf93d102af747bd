"""The pages of a run, its report, and the gateway of bots that connect.

Nothing here writes to the store of a run.
"""
