"""Bots that connect: the gateway that the runner and authors' programs call, and tokens."""
