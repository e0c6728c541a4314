"""What a server counts, in the text format of Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, generate_latest

from kengine import __version__

if TYPE_CHECKING:
    from kengine.server.desk import Desk, Job
    from kengine.server.protocol import Answer

_SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)


class Metrics:
    """Counters and histograms of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        put: Any = {"registry": self.registry}
        self._verdicts = Counter("kengine_verdicts", "Verdicts by status.", ["target", "status"], **put)
        self._errors = Counter("kengine_errors", "Requests without a verdict, by error.", ["error"], **put)
        self.refused = Counter("kengine_refused", "Requests refused because the queue was full.", **put)
        self._waited = Histogram("kengine_queue_seconds", "Time in the queue.", buckets=_SECONDS, **put)
        self._judged = Histogram("kengine_judging_seconds", "From the queue to the answer.", buckets=_SECONDS, **put)
        self._queued = Gauge("kengine_queued", "Requests that wait.", **put)
        self._running = Gauge("kengine_running", "Requests that are being judged.", **put)
        self._workers = Gauge("kengine_workers", "Candidates judged side by side.", ["target"], **put)
        Info("kengine_build", "Version of the server.", **put).info({"version": __version__})

    def observe(self, job: Job, answer: Answer) -> None:
        """Count one answer."""
        if answer.verdict is not None:
            self._verdicts.labels(str(answer.verdict.target), str(answer.verdict.status)).inc()
        else:
            self._errors.labels(answer.error).inc()
        ended = job.ended or job.arrived
        started = job.started if job.started is not None else ended
        self._waited.observe(started - job.arrived)
        if job.started is not None:
            self._judged.observe(ended - started)

    def text(self, desk: Desk) -> bytes:
        """Everything, as Prometheus reads it."""
        queued, running = desk.load()
        self._queued.set(queued)
        self._running.set(running)
        for name, engine in desk.engines.items():
            self._workers.labels(name).set(engine.workers)
        text: bytes = generate_latest(self.registry)
        return text
