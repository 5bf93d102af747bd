"""What the strategies of several games share: hand plans, bidding and determinizations."""
