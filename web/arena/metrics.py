"""The metrics of a run for an operator: `GET /metrics`, for Prometheus."""

from collections.abc import Iterator

from flask import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tournament.model import Phase
from tournament.store.reader import NotBegun
from web.arena.live_run import LiveRun, current_run
from web.arena.snapshot import RunView, Snapshot


def metrics() -> Response:
    """Return the metrics of the run as text for Prometheus. Before the run has begun, this is only
    its phase."""
    registry = CollectorRegistry()
    registry.register(_RunCollector(current_run()))
    return Response(generate_latest(registry), mimetype="text/plain; version=0.0.4")


class _RunCollector(Collector):
    """Collects the metrics of a run from the snapshot that its pages show."""

    def __init__(self, run: LiveRun) -> None:
        self._run = run

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the run, or only its phase if it has not begun."""
        age = self._run.age_s
        try:
            now = self._run.snapshot()
        except NotBegun:
            yield _phase(Phase.WAITING)
            return
        yield _phase("over" if now.finished else now.run.phase)
        yield GaugeMetricFamily("stich_pages_age_seconds", "Age of what pages showed.", age)
        yield from _of_matches(now)
        yield from _of_bots(now)


def _phase(current: str) -> Metric:
    family = GaugeMetricFamily("stich_run_phase", "1 for the current phase.", labels=["phase"])
    for phase in (*Phase, "over"):
        family.add_metric([phase], float(phase == current))
    return family


def _of_matches(now: Snapshot) -> Iterator[Metric]:
    yield CounterMetricFamily("stich_matches", "Finished matches.", now.matches)
    yield CounterMetricFamily("stich_void_matches", "Void matches.", now.run.void_matches)
    yield GaugeMetricFamily("stich_planned_matches", "Planned matches.", now.total)
    if now.rate is not None:
        about = "Matches a second in the last ten minutes."
        yield GaugeMetricFamily("stich_matches_per_second", about, now.rate)
    begun = sum(table.played > 0 for table in now.upcoming)
    waiting = sum(table.played == 0 for table in now.run.present.upcoming)
    tables = GaugeMetricFamily("stich_tables", "Tables by state.", labels=["state"])
    tables.add_metric(["begun"], begun)
    tables.add_metric(["waiting"], waiting)
    yield tables


def _of_bots(now: RunView) -> Iterator[Metric]:
    run = now.run
    bots = GaugeMetricFamily("stich_bots", "Bots by state.", labels=["state"])
    bots.add_metric(["playing"], len(set(run.cup.names) - run.gone))
    bots.add_metric(["connected"], len(run.present.connected))
    bots.add_metric(["away"], len(run.present.away))
    bots.add_metric(["disqualified"], len(run.disqualified))
    yield bots
