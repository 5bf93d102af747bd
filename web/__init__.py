"""The pages of a run, its report, and the gateway for connecting bots.

This package writes to the store of a run only when a bot joins or leaves a ladder.
"""
