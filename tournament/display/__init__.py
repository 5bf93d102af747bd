"""Parts of the output that the terminal and the pages share: values as text, replays, faults."""
