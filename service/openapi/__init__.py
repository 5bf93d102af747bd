"""The generator of the contract: writes `openapi.yaml` from the schemas."""
