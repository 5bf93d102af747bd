"""A run on the workers of a Dask cluster: `stich run --cluster`.

The runner's side is `executor` and `connection`; `tables` runs on the workers.
"""
