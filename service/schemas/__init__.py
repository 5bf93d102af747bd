"""The schemas of requests, positions and responses; openapi.yaml is generated from them."""
