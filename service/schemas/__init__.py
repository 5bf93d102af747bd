"""The schemas of requests and positions. `service.openapi` writes them to `openapi.yaml`."""
