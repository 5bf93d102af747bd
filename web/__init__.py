"""The pages of a run, its report, and the gateway for connected bots.

This package writes to the store of a run only when a bot joins or leaves a ladder.
"""
