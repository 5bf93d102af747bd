"""Thinking that games share: plans for a hand, shedding, worlds, bidding."""
