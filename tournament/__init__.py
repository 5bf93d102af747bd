"""Fair tournaments of bots: blocks, deadlines, one store, standings."""
