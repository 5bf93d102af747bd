"""A run on the workers of a Dask cluster: `stich run --cluster`.

The runner's side is `executor`, `members` and `link`. On each worker, `relay` runs inside the Dask
worker and passes the runner's requests on to `host`, a process that plays blocks as on one machine.
Only `link` imports Dask.
"""
