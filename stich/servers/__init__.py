"""Servers beside a command, in processes of their own, and the addresses servers listen on."""
