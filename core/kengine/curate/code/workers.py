"""Sketches made by processes of their own, in the order of the candidates.

A parser that dies of a text takes its process with it and nothing else: the candidates at hand are then tried one by
one, and the one that kills again is compared as a text.
"""

from __future__ import annotations

import pickle
import queue
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from kengine.curate.code.model import Sketches
from kengine.curate.code.sketch import join, sketch
from kengine.curate.code.tokens import Files

BATCH = 256
"""Candidates in a message."""


def sketch_all(batches: Iterator[Sequence[Files]], threshold: float | None, jobs: int) -> Iterator[Sketches]:
    """Sketches of batches, in their order; with `jobs` above 1 by so many processes, a bounded number ahead."""
    first = next(batches, None)
    if first is None:
        return
    second = next(batches, None)
    if jobs < 2 or second is None:
        for batch in _chain(first, second, batches):
            yield sketch(batch, threshold)
        return
    from kengine.curate.parallel import in_parallel

    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    workers = [Worker(threshold) for _ in range(jobs)]
    for worker in workers:
        idle.put(worker)

    def work(batch: Sequence[Files]) -> Sketches:
        worker = idle.get()
        try:
            return worker.sketch(batch)
        finally:
            idle.put(worker)

    try:
        yield from in_parallel(work, _chain(first, second, batches), jobs)
    finally:
        for worker in workers:
            worker.close()


class Worker:
    """One process; it starts with the first batch, and again after it died."""

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold
        self._process: subprocess.Popen[bytes] | None = None

    def sketch(self, batch: Sequence[Files]) -> Sketches:
        """Sketches of a batch."""
        files = [tuple(f) for f in batch]
        found = self._ask(files)
        if found is not None:
            return found
        singles = []
        for each in files:
            single = self._ask([each])
            singles.append(single if single is not None else sketch([_opaque(each)], self.threshold))
        return join(singles)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _ask(self, files: Sequence[Files]) -> Sketches | None:
        """None when the process died of it. Raises what else went wrong there."""
        if self._process is None:
            command = [
                sys.executable,
                "-c",
                f"import sys; sys.path[:] = {sys.path!r}\nfrom {__name__} import serve; serve()",
            ]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, (files, self.threshold))
            answer = _receive(process.stdout)
        except (BrokenPipeError, EOFError):
            self.close()
            return None
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, Sketches)
        return answer


def serve() -> None:
    """What a process does until its input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            files, threshold = _receive(source)
        except EOFError:
            return
        try:
            answer: Any = sketch(files, threshold)
        except Exception as error:
            answer = error
        _send(target, answer)


def _opaque(files: Files) -> Files:
    """Files that are compared as texts."""
    return [(path, text + "\0") for path, text in files]


def _send(pipe: IO[bytes], message: object) -> None:
    body = pickle.dumps(message, protocol=5)
    pipe.write(len(body).to_bytes(8, "little") + body)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    size = pipe.read(8)
    if len(size) < 8:
        raise EOFError
    body = pipe.read(int.from_bytes(size, "little"))
    if len(body) < int.from_bytes(size, "little"):
        raise EOFError
    return pickle.loads(body)


def _chain(
    first: Sequence[Files], second: Sequence[Files] | None, rest: Iterator[Sequence[Files]]
) -> Iterator[Sequence[Files]]:
    yield first
    if second is not None:
        yield second
        yield from rest
