"""Figures for Prometheus.

Under one worker they are kept in its memory. Under several, `PROMETHEUS_MULTIPROC_DIR` names a
folder where each worker keeps its own and `/metrics` adds up all of them, those of workers that
have ended too; `stich serve` sees to it. There are counters and histograms only, whose sums make
sense across workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

from flask import Flask, Response, request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

MULTIPROC_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
_BUCKETS: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)


_BEGAN: Final = "stich.began"


class _Figures(NamedTuple):
    requests: Counter
    seconds: Histogram


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

        self._seen: dict[tuple[str | None, str, int], _Figures] = {}

    def install(self, app: Flask) -> None:
        """Count every request of an application."""
        inner = app.wsgi_app

        def timed(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            environ[_BEGAN] = perf_counter()
            return inner(environ, start_response)

        app.wsgi_app = timed  # type: ignore[method-assign] # Flask documents it
        app.after_request(self._count)

    def problem(self, code: str) -> None:
        """Count a problem."""
        self.problems.labels(code).inc()

    def _count(self, response: Response) -> Response:
        rule = request.url_rule
        asked = request.environ
        key = (None if rule is None else rule.rule, asked["REQUEST_METHOD"], response.status_code)
        figures = self._seen.get(key)
        if figures is None:
            figures = self._figures(*key)
        figures.requests.inc()
        figures.seconds.observe(perf_counter() - asked[_BEGAN])
        return response

    def _figures(self, rule: str | None, method: str, status: int) -> _Figures:
        route = rule or "none"
        known = method in _METHODS
        figures = _Figures(
            self.requests.labels(method if known else "other", route, status),
            self.seconds.labels(route),
        )
        if known:  # a made-up method must not fill the memory
            self._seen[rule, method, status] = figures
        return figures

    def text(self) -> bytes:
        """All figures in Prometheus' text format."""
        if MULTIPROC_DIR not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call] # it has no types
        return generate_latest(together)


class Silent(Metrics):
    """Counts nothing: for an application that only asks itself."""

    def install(self, app: Flask) -> None:
        """Nothing is counted."""

    def problem(self, code: str) -> None:
        """Nothing is counted."""
