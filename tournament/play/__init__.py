"""Opponents and menus of `stich play`."""
