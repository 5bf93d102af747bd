"""The generator of the contract: writes `openapi.yaml` and the page at /docs from the schemas."""
