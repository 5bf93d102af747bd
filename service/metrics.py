"""Metrics for Prometheus, which several workers share through files."""

import os
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from service.settings import MULTIPROC_DIR

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST")
_BUCKETS: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)


class Metrics:
    """The metrics of one application, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        self.requests = counter(
            "stich_http_requests_total", "Requests answered.", ("method", "route", "status")
        )
        self.seconds = Histogram(
            "stich_http_request_seconds",
            "Time from the arrival of a request's head to its answer.",
            ("route",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.problems = counter(
            "stich_problems_total", "Problems answered, by route and code.", ("route", "code")
        )
        self._labelled = cache(
            lambda route, method, status: (
                self.requests.labels(method, route, status),
                self.seconds.labels(route),
            )
        )

    def count_request(self, route: str, method: str, status: str, seconds: float) -> None:
        """Count an answered request, and record the seconds that it took.

        `route` is the URL rule, such as `/v1/games/<name>`, or "none" if no rule matched. A method
        that is not in `METHODS` counts as "other".
        """
        # Unknown methods share one label, so that a client cannot fill the memory with labels.
        method = method if method in METHODS else "other"
        # If prometheus_client looked the labels up, /v1/advance would take 2 % more processor time.
        requests, durations = self._labelled(route, method, status)
        requests.inc()
        durations.observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format.

        If `PROMETHEUS_MULTIPROC_DIR` is set (`stich serve` sets it), delete the gauges of workers
        that have ended from that folder, and add up the metrics of all workers in it.

        Raises:
            ValueError: if the folder no longer exists.
        """
        if MULTIPROC_DIR not in os.environ:
            return generate_latest(self.registry)
        _forget_gauges_of_dead_workers()
        all_workers = CollectorRegistry()
        MultiProcessCollector(all_workers)  # type: ignore[no-untyped-call] # it has no types
        return generate_latest(all_workers)


def _forget_gauges_of_dead_workers() -> None:
    for path in Path(os.environ[MULTIPROC_DIR]).glob("gauge_live*_*.db"):
        worker = int(path.stem.rpartition("_")[2])
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            with suppress(FileNotFoundError):  # another worker was faster
                mark_process_dead(worker)  # type: ignore[no-untyped-call] # it has no types
        except PermissionError:
            pass  # the worker is alive, under another user
