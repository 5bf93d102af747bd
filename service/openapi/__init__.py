"""The generator of the contract: `openapi.yaml` and the page at /docs, written from the schemas."""
