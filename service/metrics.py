"""Figures for Prometheus.

Under one worker they are kept in its memory. Under several, `PROMETHEUS_MULTIPROC_DIR` names a
folder where each worker keeps its own and `/metrics` adds up all of them, those of workers that
have ended too; `stich serve` sees to it. There are counters and histograms only, whose sums make
sense across workers.
"""

from __future__ import annotations

import os
from time import perf_counter
from typing import Final

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

MULTIPROC_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
_BUCKETS: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)


class Metrics:
    """The figures of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "stich_http_requests_total",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "stich_http_request_seconds",
            "Time from reading a request's head to its answer.",
            ("route",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.problems = Counter(
            "stich_problems_total",
            "Problems answered, by code.",
            ("code",),
            registry=self.registry,
        )

    def install(self, app: Flask) -> None:
        """Count every request of an application."""
        app.before_request(self._begin)
        app.after_request(self._end)

    def _begin(self) -> None:
        g.began = perf_counter()

    def _end(self, response: Response) -> Response:
        rule = request.url_rule
        route = "none" if rule is None else rule.rule
        method = request.method if request.method in _METHODS else "other"
        self.requests.labels(method, route, response.status_code).inc()
        self.seconds.labels(route).observe(perf_counter() - g.began)
        return response

    def text(self) -> bytes:
        """All figures in Prometheus' text format."""
        if MULTIPROC_DIR not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
