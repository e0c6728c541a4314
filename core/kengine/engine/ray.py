"""Beyond one machine: actors on a Ray cluster, each with a lease on a device or on processors and a local engine.

Ray places the actors and tells when one is lost; here each item goes to an actor that is free, and again to another
one when its actor is lost before the verdict is here. Nothing but verdicts that arrived counts, so none is lost and
none is doubled.
"""

from __future__ import annotations

import atexit
import importlib
import pickle
import socket
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kengine import codec
from kengine.engine import ray_actor, ray_nodes
from kengine.errors import InfraError, KengineError, PluginError, TargetUnavailable, UsageError, WorkerLost
from kengine.model import Target, TargetInfo, Verdict
from kengine.plugins import backend as backends
from kengine.plugins.registry import PluginWarning

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.tasks import Item

_LOSSES = 8
_SETTLE_S = 30.0
_CLOSE_S = 15.0
_PAUSE_S = (0.5, 10.0)
_PORTION = 4
_PORTION_S = 0.2


@dataclass(frozen=True)
class Cluster:
    """Which Ray cluster judges, and what one of its actors leases: `Engine(executor=Cluster(...))`.

    address: of a cluster; None joins the one that this program has joined, or RAY_ADDRESS, or starts one here.
    slots: candidates side by side in one actor, one CPU each; None takes a node's processors, at most 8, for each
    device. lease: resources of one actor beside these CPUs; None takes a GPU for a target on a GPU, and nothing for
    an emulator. patience_s: seconds without any living actor before an item ends in WorkerLost.
    """

    address: str | None = None
    slots: int | None = None
    lease: Mapping[str, float] | None = None
    patience_s: float = 300.0


class _Actor:
    """One actor that was started: its handle, and where it is."""

    def __init__(self, handle: Any, answer: Mapping[str, Any], where: str) -> None:
        self.handle = handle
        self.where = where
        self.info: TargetInfo = answer["info"]
        self.compile_for: tuple[Target, ...] = answer["compile_for"]


class _Ticket:
    """One item that waits for its outcome: a verdict, or what is to be raised."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.outcome: Verdict | BaseException | None = None
        self.losses = 0

    def verdict(self) -> Verdict:
        """The outcome, which is there."""
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        if not isinstance(self.outcome, Verdict):
            raise WorkerLost(f"an actor answered with a {type(self.outcome).__name__} where a verdict belongs")
        return self.outcome


class Actors:
    """The actors of one engine. Thread-safe.

    info, compile_for: the target that all of them launch on, as the first of them found it. workers: candidates side
    by side, over all nodes. threads: how many callers of `judge` at once keep all of them busy. Raises UsageError, PluginError or TargetUnavailable, with the node, when one of them
    cannot judge.
    """

    def __init__(
        self,
        cluster: Cluster,
        backend: str | None,
        target: str | None,
        compile_for: Sequence[str] | None,
        plan: Plan,
        workers: int | None,
    ) -> None:
        self._ray = _join(cluster)
        self._cluster = cluster
        self._change = threading.Condition()
        self._waiting: deque[_Ticket] = deque()
        self._mean_s = 1.0
        self._idle: deque[_Actor] = deque()
        self._living: set[_Actor] = set()
        self._handles: set[Any] = set()
        self._starting = 0
        self._problem: KengineError | None = None
        self._strict = True
        self._closed = False
        self._atexit = weakref.WeakMethod(self.close)
        atexit.register(_call, self._atexit)  # before Ray's own end, after which no actor can be asked
        try:
            name = _backend_name(backend, target)
            self.backend = backends.load(name)
            self._recipe: dict[str, Any] = {
                "name": name,
                "backend": backend,
                "target": target,
                "compile_for": None if compile_for is None else list(compile_for),
                "plan": codec.dumps(plan),
            }
            lease = ray_nodes.find_lease(self._ray, self.backend, target, plan, cluster.lease)
            first = self._start_first(lease, workers)
            ray_nodes.check_lease(first.info, {name: n for name, n in self._lease.items() if name != "CPU"})
            self.info, self.compile_for = first.info, first.compile_for
            self._start_others()
        except BaseException:
            self.close()
            raise
        self._strict = False

    def judge(self, item: Item) -> Verdict:
        """Have one item judged, on another actor when the first is lost. Raises what an engine raises.

        Many threads call this at once. Whichever finds an actor free sends it what waits, not only its own: where a
        verdict takes a few milliseconds, a call for each would cost as much as some of them.
        """
        ticket = _Ticket(item)
        with self._change:
            self._waiting.append(ticket)
        while True:
            with self._change:
                actor = self._take(ticket)
                if actor is None:
                    break
                portion = [self._waiting.popleft() for _ in range(self._portion())]
            self._send(actor, portion)
        return ticket.verdict()

    def processes(self) -> dict[str, int | None]:
        """Process numbers by node and name."""
        with self._change:
            living = list(self._living)
        found: dict[str, int | None] = {}
        for n, actor in enumerate(living):
            with suppress(self._ray.exceptions.RayError):
                named = self._ray.get(actor.handle.processes.remote(), timeout=_CLOSE_S)
                found.update({f"{actor.where}/{n}/{name}": pid for name, pid in named.items()})
        return found

    def close(self) -> None:
        """End every engine and actor; safe to call again."""
        with self._change:
            if self._closed:
                return
            self._closed = True
            handles, living = list(self._handles), list(self._living)
            self._change.notify_all()
        atexit.unregister(self._atexit)
        with suppress(Exception):
            # Killed without this, an actor would leave the folders of its runners behind.
            self._ray.wait(
                [actor.handle.close.remote() for actor in living], num_returns=len(living), timeout=_CLOSE_S
            )
        for handle in handles:
            with suppress(Exception):
                self._ray.kill(handle)
        _leave(self._ray)

    def _take(self, ticket: _Ticket) -> _Actor | None:
        """Wait for an actor that is free, None when the ticket is answered before; the lock is held."""
        end = time.monotonic() + self._cluster.patience_s
        while ticket.outcome is None:
            if self._closed:
                problem: KengineError | None = WorkerLost("the engine is closed")
            elif self._idle and self._waiting:
                return self._idle.popleft()
            elif self._living:
                end = time.monotonic() + self._cluster.patience_s
                problem = None
            elif not self._starting:
                problem = self._problem or WorkerLost("no actor is left")
            elif time.monotonic() >= end:
                problem = WorkerLost(
                    f"for {self._cluster.patience_s:g} s no node of the Ray cluster had room for an actor that "
                    f"leases {self._lease}; the last problem was: {self._problem or 'none'}"
                )
            else:
                problem = None
            if problem is not None and ticket in self._waiting:
                self._waiting.remove(ticket)
                raise problem
            self._change.wait(1.0)
        return None

    def _portion(self) -> int:
        """How many of those that wait go with one call: as many as take a moment, and no more than a fair share."""
        share = -(-len(self._waiting) // (len(self._idle) + 1))
        return max(1, min(share, int(_PORTION_S / self._mean_s), _PORTION))

    def _send(self, actor: _Actor, portion: list[_Ticket]) -> None:
        """Have an actor judge a portion, and answer its tickets; when the actor is lost they wait again."""
        begun = time.monotonic()
        try:
            answer = self._ray.get(actor.handle.verify.remote(pickle.dumps([ticket.item for ticket in portion])))
            outcomes = pickle.loads(answer)
        except (self._ray.exceptions.RayActorError, self._ray.exceptions.ObjectLostError) as error:
            self._lose(actor, f"{actor.where} was lost: {_first_line(error)}")
            self._requeue(portion)
            return
        except BaseException as error:
            self._give(actor)
            self._answer(portion, [error] * len(portion))
            return
        self._mean_s += 0.2 * ((time.monotonic() - begun) / len(portion) - self._mean_s)
        broken = next((outcome for outcome in outcomes if isinstance(outcome, InfraError)), None)
        if broken is None:
            self._give(actor)
        else:
            # The engine there has tried thrice: the node is suspect, and must not draw in item after item.
            self._lose(actor, f"{actor.where}: {broken}")
        placed = (InfraError, PluginError)
        self._answer(portion, [_placed(o, actor.where) if isinstance(o, placed) else o for o in outcomes])

    def _requeue(self, portion: list[_Ticket]) -> None:
        with self._change:
            for ticket in reversed(portion):
                ticket.losses += 1
                if self._closed:
                    ticket.outcome = WorkerLost("the engine is closed")
                elif ticket.losses < _LOSSES:
                    self._waiting.appendleft(ticket)
                else:
                    text = f"{_LOSSES} actors were lost while they judged this candidate; the last: {self._problem}"
                    ticket.outcome = WorkerLost(text)
            self._change.notify_all()

    def _answer(self, portion: list[_Ticket], outcomes: list[Verdict | BaseException]) -> None:
        with self._change:
            for ticket, outcome in zip(portion, outcomes):
                ticket.outcome = outcome
            self._change.notify_all()

    def _give(self, actor: _Actor) -> None:
        with self._change:
            if actor in self._living:
                self._idle.append(actor)
                self._change.notify_all()

    def _lose(self, actor: _Actor, problem: str) -> None:
        """Do without an actor from now on, and have Ray place another where there is room."""
        with self._change:
            if self._closed:
                return
            self._problem = WorkerLost(problem)
            if actor not in self._living:
                return
            self._living.discard(actor)
            self._idle = deque(other for other in self._idle if other is not actor)
            self._starting += 1
        threading.Thread(target=self._retire, args=(actor,), name="kengine-ray-retire", daemon=True).start()
        threading.Thread(target=self._start, name="kengine-ray-start", daemon=True).start()

    def _retire(self, actor: _Actor) -> None:
        with suppress(Exception):
            self._ray.wait([actor.handle.close.remote()], timeout=_CLOSE_S)
        self._kill(actor.handle)

    def _start_first(self, lease: Mapping[str, float], workers: int | None) -> _Actor:
        """Start one actor alone: it decides the target when none was named, and all others launch on the same."""
        self._shape(lease, workers)
        self._starting = 1
        self._start(self._cluster.patience_s)
        first = self._first()
        if first.info.emulated and self._cluster.lease is None and lease:
            # No device for this backend on the nodes that have one: emulators need none.
            self._drop(first)
            self._recipe["target"] = str(first.info.target)
            self._shape({}, workers)
            self._starting = 1
            self._start(self._cluster.patience_s)
            first = self._first()
        self._recipe.update(backend=None, target=str(first.info.target))
        return first

    def _shape(self, lease: Mapping[str, float], workers: int | None) -> None:
        self._lease, self._slots, self._count = ray_nodes.find_shape(
            self._ray.nodes(), lease, self._cluster.slots, workers
        )
        self._recipe["slots"] = self._slots
        self.workers = min(workers or self._count * self._slots, self._count * self._slots)
        self.threads = min(_PORTION * self.workers, self.workers + 64)

    def _first(self) -> _Actor:
        with self._change:
            if self._living:
                return next(iter(self._living))
            raise self._problem or WorkerLost("no actor could be started")

    def _start_others(self) -> None:
        self._starting = self._count - 1
        for _ in range(self._count - 1):
            threading.Thread(target=self._start, name="kengine-ray-start", daemon=True).start()
        end = time.monotonic() + _SETTLE_S
        with self._change:
            # Those that other users of the cluster keep waiting join later.
            while self._starting and not self._failed and time.monotonic() < end:
                self._change.wait(1.0)
            if self._failed and self._problem is not None:
                raise self._problem

    @property
    def _failed(self) -> bool:
        return self._problem is not None and not isinstance(self._problem, InfraError)

    def _start(self, timeout_s: float | None = None) -> None:
        """Have Ray place an actor and start its engine, again when it is lost meanwhile; then let it judge."""
        pause = _PAUSE_S[0]
        while not self._closed:
            handle = self._place()
            try:
                answer = self._ray.get(handle.start.remote(self._recipe), timeout=timeout_s)
                actor = self._welcome(handle, answer)
            except self._ray.exceptions.GetTimeoutError:
                self._fail(
                    handle,
                    TargetUnavailable(
                        f"Ray had no room for an actor that leases {self._lease} within {timeout_s:g} s; "
                        f"it has {ray_nodes.describe(self._ray.nodes())}"
                    ),
                )
                return
            except self._ray.exceptions.RayActorError as error:
                self._kill(handle)
                with self._change:
                    self._problem = WorkerLost(f"an actor was lost before it judged: {_first_line(error)}")
                time.sleep(pause)
                pause = min(2 * pause, _PAUSE_S[1])
                continue
            except Exception as error:
                wrapped = WorkerLost(f"an actor could not be started: {type(error).__name__}: {_first_line(error)}")
                self._fail(handle, error if isinstance(error, KengineError) else wrapped)
                return
            with self._change:
                if self._closed:
                    return
                self._starting -= 1
                self._living.add(actor)
                self._idle.extend([actor] * self._slots)
                self._change.notify_all()
            return

    def _place(self) -> Any:
        extra = {name: amount for name, amount in self._lease.items() if name not in ("CPU", "GPU")}
        kind = self._ray.remote(ray_actor.make_class()).options(
            num_cpus=self._lease.get("CPU", 0),
            num_gpus=self._lease.get("GPU", 0),
            resources=extra,
            max_concurrency=self._slots + 1,
            max_restarts=0,
            enable_task_events=False,  # a third of what a call costs
            scheduling_strategy="SPREAD",
        )
        handle = kind.remote()
        with self._change:
            self._handles.add(handle)
        return handle

    def _welcome(self, handle: Any, answer: Mapping[str, Any]) -> _Actor:
        """Check what a node says of itself. Raises KengineError with the node's name for one that cannot judge."""
        where = ray_nodes.name(self._ray.nodes(), answer["node"])
        ray_nodes.check(where, answer, self.backend)
        actor = _Actor(handle, answer, where)
        with self._change:
            other = next(iter(self._living), None)
        if other is not None and actor.info.versions != other.info.versions:
            warnings.warn(
                f"{where} has {ray_nodes.write_versions(actor.info)}, {other.where} has "
                f"{ray_nodes.write_versions(other.info)}: verdicts may depend on where they are made",
                PluginWarning,
                stacklevel=2,
            )
        return actor

    def _fail(self, handle: Any, error: KengineError) -> None:
        self._kill(handle)
        with self._change:
            self._starting -= 1
            self._problem = error
            self._change.notify_all()
        if not self._strict and not self._closed:
            warnings.warn(f"{error}; going on without it", PluginWarning, stacklevel=2)

    def _drop(self, actor: _Actor) -> None:
        with self._change:
            self._living.discard(actor)
            self._idle.clear()
        self._retire(actor)

    def _kill(self, handle: Any) -> None:
        with self._change:
            self._handles.discard(handle)
        with suppress(Exception):
            self._ray.kill(handle)


def connect(
    executor: str | Cluster,
    backend: str | None,
    target: str | None,
    compile_for: Sequence[str] | None,
    plan: Plan,
    workers: int | None,
) -> Actors:
    """Start the actors of an engine. Raises UsageError for an executor that there is not."""
    cluster = Cluster() if executor == "ray" else executor
    if not isinstance(cluster, Cluster):
        raise UsageError(f"executor is {executor!r}, allowed: 'local', 'ray', or a kengine.engine.ray.Cluster")
    return Actors(cluster, backend, target, compile_for, plan, workers)


_lock = threading.Lock()
_joined = {"engines": 0, "ours": 0}


def _join(cluster: Cluster) -> Any:
    """Ray, joined to a cluster. Raises UsageError when it is not installed or cannot be reached."""
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(f"executor 'ray' needs Ray ({error}): pip install 'kernel-engine[ray]'") from None
    with _lock:
        if not ray.is_initialized():
            _knock(cluster.address)
            try:
                ray.init(address=cluster.address, include_dashboard=None if cluster.address else False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise UsageError(f"no Ray cluster at {cluster.address or 'RAY_ADDRESS'}: {error}") from error
            _joined["ours"] = 1
        _joined["engines"] += 1
    return ray


def _knock(address: str | None) -> None:
    """Raise UsageError when nobody listens at an address: Ray itself would try for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise UsageError(f"no Ray cluster at {address}: {error}") from None


def _leave(ray: Any) -> None:
    with _lock:
        _joined["engines"] -= 1
        if _joined["ours"] and not _joined["engines"]:
            _joined["ours"] = 0
            with suppress(Exception):
                ray.shutdown()


def _backend_name(backend: str | None, target: str | None) -> str:
    if target is None:
        if backend is None:
            raise UsageError("no backend given: backend=NAME or target=BACKEND:ARCH; `kengine backends` lists them")
        return backend
    wanted = Target.parse(target)
    if backend is not None and backend != wanted.backend:
        raise UsageError(f"target {target} belongs to the backend {wanted.backend!r}, asked for was {backend!r}")
    return wanted.backend


def _placed(error: KengineError, where: str) -> KengineError:
    error.args = (f"{where}: {error}", *error.args[1:])
    return error


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:1] + [line for line in lines[1:] if line.startswith(("ip:", "node"))])[:500]


def _call(method: weakref.WeakMethod[Any]) -> None:
    target = method()
    if target is not None:
        target()

