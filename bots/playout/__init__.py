"""Cheap players for all seats at once: they finish a deal that the search has made up."""
