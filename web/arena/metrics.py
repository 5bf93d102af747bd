"""The metrics of a run for an operator: `GET /metrics`, for Prometheus."""

from collections.abc import Iterator, Mapping

from flask import Response
from prometheus_client import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tournament.model import Phase
from tournament.store.reader import NotBegun
from web.arena.live_run import current_run


def metrics() -> Response:
    """Return the metrics of the run, or only its phase if it has not begun, as text for Prometheus.
    Answer with status 503 if the store cannot be read."""
    return Response(generate_latest(_RunCollector()), mimetype="text/plain; version=0.0.4")


class _RunCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        age = current_run().age_s
        try:
            now = current_run().snapshot()
        except NotBegun:
            yield _phases(Phase.WAITING)
            return
        run, present = now.run, now.run.present
        yield _phases(now.run.phase)
        yield GaugeMetricFamily("stich_pages_age_seconds", "Age of what pages showed.", age)
        yield CounterMetricFamily("stich_matches", "Finished matches.", now.matches)
        yield CounterMetricFamily("stich_void_matches", "Void matches.", run.void_matches)
        yield GaugeMetricFamily("stich_planned_matches", "Planned matches.", now.total)
        if now.rate is not None:
            about = "Matches a second in the last ten minutes."
            yield GaugeMetricFamily("stich_matches_per_second", about, now.rate)
        tables = {
            "begun": sum(table.block in now.played for table in now.upcoming),
            # in a ladder, `now.upcoming` lacks waiting tables, but their number is no secret
            "waiting": sum(table.block not in now.played for table in present.upcoming),
        }
        yield _gauges("stich_tables", "Tables by state.", "state", tables)
        bots = {
            "playing": len(set(run.cup.names) - run.gone),
            "connected": len(present.connected),
            "away": len(present.away),
            "disqualified": len(run.disqualified),
        }
        yield _gauges("stich_bots", "Bots by state.", "state", bots)


def _phases(current: str) -> Metric:
    phases = {phase.value: float(phase == current) for phase in Phase}
    return _gauges("stich_run_phase", "1 for the current phase.", "phase", phases)


def _gauges(name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
