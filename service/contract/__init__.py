"""The parts of the contract: components, paths, webhooks."""
