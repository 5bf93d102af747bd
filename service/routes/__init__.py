"""The operations: plain ones, sealed ones, and those outside `/v1`."""
