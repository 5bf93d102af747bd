"""What tests and benchmarks share: misbehaving bots, wheels, a slow and plain check of rules."""
