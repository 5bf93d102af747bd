"""What the strategies of several games share: hand plans, shedding, bidding, determinization."""
