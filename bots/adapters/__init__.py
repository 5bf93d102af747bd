"""HTTP bots in front of Dou Dizhu programs that were written for other platforms."""
