"""The pages of a run, its report, and the gateway for connected bots.

Only joining and leaving a ladder write to the store of a run.
"""
