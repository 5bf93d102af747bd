"""What the climbing games share: auctions, and tricks in which each play beats the last."""
