"""The schemas of the wire, from which the contract is written."""
