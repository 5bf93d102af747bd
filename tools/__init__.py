"""What tests and benchmarks share: misbehaving bots, wheels, and a slow, simple check of rules."""
