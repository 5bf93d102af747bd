"""Playing blocks: the interface of executors, and the executor that uses this machine."""
