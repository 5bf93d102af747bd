"""The schemas of requests and positions; `service.openapi` writes them into openapi.yaml."""
