"""A run on a Dask cluster. `executor` is the runner's side, and `tables` runs on the workers."""
