"""The actors of one engine: where they are, what they lease, who takes the place of one that is lost."""

from __future__ import annotations

import atexit
import pickle
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kengine import codec
from kengine.engine import ray_actor, ray_nodes
from kengine.engine.ray_queue import PORTION, Queue, Ticket
from kengine.errors import InfraError, InternalError, KengineError, PluginError, TargetUnavailable, WorkerLost
from kengine.model import Target, TargetInfo, Verdict
from kengine.plugins import backend as backends
from kengine.plugins.registry import PluginWarning

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.engine.ray import Cluster
    from kengine.tasks import Item

_SETTLE_S = 30.0
_CLOSE_S = 15.0
_PAUSE_S = (0.5, 10.0)


class _Actor:
    """One actor that judges: its handle, where it is, and the target it launches on; `alive` until it is lost."""

    def __init__(self, handle: Any, answer: Mapping[str, Any], where: str) -> None:
        self.handle = handle
        self.where = where
        self.info: TargetInfo = answer["info"]
        self.compile_for: tuple[Target, ...] = answer["compile_for"]
        self.alive = threading.Event()
        self.alive.set()


class Actors:
    """Actors on a cluster that Ray is joined to. Thread-safe.

    info, compile_for: the target that all of them launch on, as the first of them found it. workers: candidates side
    by side, over all nodes. threads: how many callers of `judge` at once keep all of them busy. Raises UsageError,
    PluginError or TargetUnavailable, with the node, when one of them cannot judge.
    """

    def __init__(
        self,
        ray: Any,
        leave: Callable[[], None],
        cluster: Cluster,
        name: str,
        backend: str | None,
        target: str | None,
        compile_for: Sequence[str] | None,
        plan: Plan,
        workers: int | None,
    ) -> None:
        self._ray, self._leave, self._cluster = ray, leave, cluster
        self._queue = Queue()
        self._change = threading.Condition()
        self._living: set[_Actor] = set()
        self._handles: set[Any] = set()
        self._starting = 0
        self._alone = time.monotonic()
        self._problem: KengineError | None = None
        self._strict = True
        self._closed = False
        self._atexit = weakref.WeakMethod(self.close)
        atexit.register(_call, self._atexit)  # before Ray's own end, after which no actor can be asked
        try:
            self.backend = backends.load(name)
            self._recipe: dict[str, Any] = {
                "name": name,
                "backend": backend,
                "target": target,
                "compile_for": None if compile_for is None else list(compile_for),
                "plan": codec.dumps(plan),
            }
            lease = ray_nodes.find_lease(ray, self.backend, target, plan, cluster.lease)
            first = self._start_first(lease, workers)
            ray_nodes.check_lease(first.info, {name: n for name, n in self._lease.items() if name != "CPU"})
            self.info, self.compile_for = first.info, first.compile_for
            self._start_others()
        except BaseException:
            self.close()
            raise
        self._strict = False

    def judge(self, item: Item) -> Verdict:
        """Have one item judged, on another actor when the first is lost. Raises what an engine raises."""
        if self._closed:
            raise WorkerLost("the engine is closed")
        ticket = self._queue.put(item)
        while True:
            try:
                return ticket.future.result(timeout=1.0)
            except (FutureTimeout, TimeoutError):
                if ticket.future.done():
                    continue
                problem = self._hopeless()
                if problem is not None and self._queue.withdraw(ticket):
                    raise problem from None

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
        for actor in living:
            actor.alive.clear()
        self._queue.fail_all(WorkerLost("the engine is closed"))
        with suppress(Exception):
            # Killed without this, an actor would leave the folders of its runners behind.
            waits = [actor.handle.close.remote() for actor in living]
            self._ray.wait(waits, num_returns=len(waits), timeout=_CLOSE_S)
        for handle in handles:
            with suppress(Exception):
                self._ray.kill(handle)
        self._leave()

    def _hopeless(self) -> KengineError | None:
        """Why nothing that waits will be judged, None while there is hope."""
        with self._change:
            if self._closed:
                return WorkerLost("the engine is closed")
            if self._living:
                return None
            if not self._starting:
                return self._problem or WorkerLost("no actor is left")
            if time.monotonic() < self._alone + self._cluster.patience_s:
                return None
            return WorkerLost(
                f"for {self._cluster.patience_s:g} s no node of the Ray cluster had room for an actor that leases "
                f"{ray_nodes.write(self._lease)}; the last problem was: {self._problem or 'none'}"
            )

    def _serve(self, actor: _Actor) -> None:
        """Take what waits and have an actor judge it, until the actor is lost."""
        while portion := self._queue.take(actor.alive):
            self._send(actor, portion)

    def _send(self, actor: _Actor, portion: list[Ticket]) -> None:
        try:
            items = pickle.dumps([ticket.item for ticket in portion])
            seconds, outcomes = pickle.loads(self._ray.get(actor.handle.verify.remote(items)))
        except (self._ray.exceptions.RayActorError, self._ray.exceptions.ObjectLostError) as error:
            problem = f"{actor.where} was lost: {_first_line(error)}"
            self._lose(actor, problem)
            if self._closed:
                self._queue.answer(portion, [WorkerLost("the engine is closed")] * len(portion))
            else:
                self._queue.give_back(portion, problem)
            return
        except BaseException as error:
            if len(portion) > 1:  # one item that cannot be sent, or its answer, must not be the end of the others
                for ticket in portion:
                    self._send(actor, [ticket])
            else:
                self._queue.answer(portion, [error if isinstance(error, KengineError) else InternalError.of(error)])
            return
        self._queue.note(seconds / len(portion))
        broken = next((o for o in outcomes if isinstance(o, InfraError) and not isinstance(o, InternalError)), None)
        if broken is not None:
            # The engine there has tried thrice: the node is suspect, and must not draw in item after item.
            self._lose(actor, f"{actor.where}: {broken}")
        placed = (InfraError, PluginError)
        self._queue.answer(portion, [_place(o, actor.where) if isinstance(o, placed) else o for o in outcomes])

    def _watch(self, actor: _Actor) -> None:
        """Notice the loss of an actor also while it judges nothing."""
        try:
            self._ray.get(actor.handle.stay.remote())
        except Exception as error:
            self._lose(actor, f"{actor.where} was lost: {_first_line(error)}")

    def _lose(self, actor: _Actor, problem: str) -> None:
        """Do without an actor from now on, and have Ray place another where there is room."""
        with self._change:
            if self._closed or actor not in self._living:
                return
            self._problem = WorkerLost(problem)
            self._living.discard(actor)
            self._alone = time.monotonic()
            self._starting += 1
        self._dismiss(actor)
        threading.Thread(target=self._retire, args=(actor,), name="kengine-ray-retire", daemon=True).start()
        threading.Thread(target=self._start, name="kengine-ray-start", daemon=True).start()

    def _dismiss(self, actor: _Actor) -> None:
        with self._queue.change:
            actor.alive.clear()
            self._queue.change.notify_all()

    def _retire(self, actor: _Actor) -> None:
        with suppress(Exception):
            self._ray.wait([actor.handle.close.remote()], timeout=_CLOSE_S)
        self._kill(actor.handle)

    def _start_first(self, lease: Mapping[str, float], workers: int | None) -> _Actor:
        """Start one actor alone: it decides the target when none was named, and all others launch on the same."""
        self._shape(lease, workers)
        first = self._start_alone()
        if first.info.emulated and self._cluster.lease is None and lease:
            # No device for this backend on the nodes that have one: emulators need none.
            with self._change:
                self._living.discard(first)
            self._dismiss(first)
            self._retire(first)
            self._recipe["target"] = str(first.info.target)
            self._shape({}, workers)
            first = self._start_alone()
        self._recipe.update(backend=None, target=str(first.info.target))
        return first

    def _shape(self, lease: Mapping[str, float], workers: int | None) -> None:
        self._lease, self._slots, self._count = ray_nodes.find_shape(
            self._ray.nodes(), lease, self._cluster.slots, workers
        )
        self._recipe["slots"] = self._slots
        self.workers = min(workers or self._count * self._slots, self._count * self._slots)
        senders = self._count * (self._slots + 1)
        self.threads = min(PORTION * senders, senders + 64)

    def _start_alone(self) -> _Actor:
        self._starting = 1
        self._start(self._cluster.patience_s)
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
            while self._starting and self._refusal() is None and time.monotonic() < end:
                self._change.wait(1.0)
            if (refusal := self._refusal()) is not None:
                raise refusal

    def _refusal(self) -> KengineError | None:
        """The last problem, when it is one that time does not mend."""
        return None if isinstance(self._problem, InfraError) else self._problem

    def _start(self, timeout_s: float | None = None) -> None:
        """Have Ray place an actor and start its engine, again when it is lost meanwhile; then let it judge."""
        pause = _PAUSE_S[0]
        while not self._closed:
            handle = self._place()
            try:
                answer = self._ray.get(handle.start.remote(self._recipe), timeout=timeout_s)
                actor = self._welcome(handle, answer)
            except self._ray.exceptions.RayActorError as error:
                self._kill(handle)
                with self._change:
                    self._problem = WorkerLost(f"an actor was lost before it judged: {_first_line(error)}")
                time.sleep(pause)
                pause = min(2 * pause, _PAUSE_S[1])
                continue
            except self._ray.exceptions.GetTimeoutError:
                text = (
                    f"Ray had no room for an actor that leases {ray_nodes.write(self._lease)} within {timeout_s:g} s; "
                    f"it has {ray_nodes.describe(self._ray.nodes())}"
                )
                return self._fail(handle, TargetUnavailable(text))
            except KengineError as error:
                return self._fail(handle, error)
            except Exception as error:
                text = f"an actor could not be started: {type(error).__name__}: {_first_line(error)}"
                return self._fail(handle, WorkerLost(text))
            return self._admit(actor)
        return None

    def _place(self) -> Any:
        extra = {name: amount for name, amount in self._lease.items() if name not in ("CPU", "GPU")}
        kind = self._ray.remote(ray_actor.make_class()).options(
            num_cpus=self._lease.get("CPU", 0),
            num_gpus=self._lease.get("GPU", 0),
            resources=extra,
            max_concurrency=self._slots + 3,  # the portion that waits, `stay`, and what else is asked meanwhile
            max_restarts=0,
            scheduling_strategy="SPREAD",
            enable_task_events=False,  # a third of what a call costs
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

    def _admit(self, actor: _Actor) -> None:
        with self._change:
            if self._closed:
                return
            self._starting -= 1
            self._living.add(actor)
            self._change.notify_all()
        threading.Thread(target=self._watch, args=(actor,), name="kengine-ray-watch", daemon=True).start()
        for _ in range(self._slots + 1):
            threading.Thread(target=self._serve, args=(actor,), name="kengine-ray", daemon=True).start()

    def _fail(self, handle: Any, error: KengineError) -> None:
        self._kill(handle)
        with self._change:
            self._starting -= 1
            self._problem = error
            self._change.notify_all()
        if not self._strict and not self._closed:
            warnings.warn(f"{error}; going on without it", PluginWarning, stacklevel=2)

    def _kill(self, handle: Any) -> None:
        with self._change:
            self._handles.discard(handle)
        with suppress(Exception):
            self._ray.kill(handle)


def _place(error: KengineError, where: str) -> KengineError:
    error.args = (f"{where}: {error}", *error.args[1:])
    return error


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:1] + [line for line in lines[1:] if line.startswith(("ip:", "node"))])[:500]


def _call(method: weakref.WeakMethod[Any]) -> None:
    target = method()
    if target is not None:
        target()
