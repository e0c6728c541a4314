"""Work that is dealt out to several processes, its results in the order of the parts.

Processes are forked: they begin with everything that is loaded and open here, at once, and need no importable main
module. They compute and write into a pipe, nothing else.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Full, Queue
from threading import Event, Thread
from typing import BinaryIO, TypeVar

from kengine.errors import InfraError

T = TypeVar("T")

AHEAD = 4
"""Results of each process that may wait to be taken."""

MOST = 8
"""Processes at most: one that takes their results in keeps up with about so many."""


def spread(work: Callable[[int, int], Iterator[T]], of: int) -> Iterator[T]:
    """Run `work(k, of)` in `of` processes, k from 0; take one result of each in turn until the next one has ended.

    So the results come in order when process k yields those of the parts k, k + of, k + 2 of, ... An exception there is
    raised here, at its place in the order. Raises InfraError when a process died.
    """
    workers: list[tuple[int, BinaryIO]] = []
    pumps: list[Thread] = []
    stop = Event()
    try:
        for k in range(of):
            workers.append(_start(work, k, of))
        queues: list[Queue[bytes]] = [Queue(AHEAD) for _ in workers]
        for (_, file), queue in zip(workers, queues):
            pumps.append(Thread(target=_pump, args=(file, queue, stop), name="curate-crew", daemon=True))
            pumps[-1].start()
        at = 0
        while True:
            message = queues[at % of].get()
            if not message:
                raise InfraError("a process of the curation died; what was done so far is kept: run the command again")
            kind, value = pickle.loads(message)
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
            at += 1
    finally:
        stop.set()
        for process, _ in workers:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        for pump in pumps:
            pump.join()
        for _, file in workers:
            file.close()


def _start(work: Callable[[int, int], Iterator[T]], k: int, of: int) -> tuple[int, BinaryIO]:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # of forking beside threads: the child takes no lock that one of them could hold
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        os.close(writing)
        return process, os.fdopen(reading, "rb", buffering=1 << 20)
    try:
        _close_all_but(writing)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()
        with os.fdopen(writing, "wb", buffering=1 << 16) as out:
            _serve(work, k, of, out)
    finally:
        os._exit(0)


def _close_all_but(kept: int) -> None:
    """Let go of the parent's files: its lock would outlive it here, and a sibling's pipe would not end with it."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != kept:
            with suppress(OSError):
                os.close(int(name))


def _serve(work: Callable[[int, int], Iterator[T]], k: int, of: int, out: BinaryIO) -> None:
    try:
        for value in work(k, of):
            _send(out, ("result", value))
        _send(out, ("end", None))
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            _send(out, ("error", error))
    except BaseException as error:
        _send(out, ("error", _portable(error)))


def _send(out: BinaryIO, message: tuple[str, object]) -> None:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    out.write(len(body).to_bytes(8, "big"))
    out.write(body)
    out.flush()


def _portable(error: BaseException) -> BaseException:
    try:
        again = pickle.loads(pickle.dumps(error))
        return error if type(again) is type(error) and str(again) == str(error) else InfraError(_describe(error))
    except Exception:
        return InfraError(_describe(error))


def _describe(error: BaseException) -> str:
    return f"a process of the curation failed: {type(error).__name__}: {error}"


def _pump(file: BinaryIO, queue: Queue[bytes], stop: Event) -> None:
    """Read whole messages; an empty one at the end, also of a message that was cut."""
    body = b"-"
    while body and not stop.is_set():
        head = file.read(8)
        size = int.from_bytes(head, "big")
        body = file.read(size) if len(head) == 8 else b""
        body = body if len(body) == size else b""
        while not stop.is_set():
            try:
                queue.put(body, timeout=0.2)
                break
            except Full:
                continue
