"""A run on the workers of a Dask cluster: `stich run --cluster`.

The runner's side is `executor`; `tables` runs on the workers. Both use `archive` and `connection`.
"""
