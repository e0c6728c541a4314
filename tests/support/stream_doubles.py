"""A device with streams in virtual time: what is enqueued takes effect when the host's clock has passed its end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
import torch

HOST_NS = 10_000
"""What everything that the host enqueues or asks for takes of its time."""


class Device:
    """queues: how many ways into the device there are; streams share them in turn, and each works in order."""

    def __init__(self, queues: int = 8) -> None:
        self.now = 0
        self.queues = [0] * queues
        self.effects: list[tuple[int, Callable[[], None]]] = []
        self.streams: dict[int, Stream] = {}
        self.held_ns = 0
        self.home = self.stream(0)
        self.current = self.home
        self.capturing = False
        self.broken = False

    def stream(self, handle: int) -> Stream:
        return self.streams.setdefault(handle, Stream(self, handle))

    def pass_to(self, when: int) -> None:
        self.now = max(self.now, when)
        due = sorted((e for e in self.effects if e[0] <= self.now), key=lambda e: e[0])
        self.effects = [e for e in self.effects if e[0] > self.now]
        for _, effect in due:
            effect()

    def enqueue(self, stream: Stream, ns: int, effect: Callable[[], None] | None = None) -> None:
        self.pass_to(self.now + HOST_NS)
        queue = stream.handle % len(self.queues)
        start = max(self.now, stream.ready, self.queues[queue])
        self.queues[queue] = start  # what comes next cannot begin before this has
        stream.ready = start + ns
        if effect is not None:
            self.effects.append((stream.ready, effect))

    def synchronize(self, *_: Any) -> None:
        if self.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        self.pass_to(max([self.now, *(s.ready for s in self.streams.values())]))

    def sleep(self, cycles: int) -> None:
        self.held_ns += cycles // 2 if self.current is not self.home else 0
        self.enqueue(self.current, cycles // 2)

    @contextmanager
    def using(self, stream: Stream) -> Any:
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def install(self, patch: pytest.MonkeyPatch) -> Device:
        def choose(stream: Stream) -> None:
            self.current = stream

        answers: dict[str, Any] = {
            "is_initialized": lambda: True, "current_stream": lambda *_: self.current, "set_stream": choose,
            "stream": self.using, "ExternalStream": lambda handle, device=None: self.stream(handle),
            "Event": lambda *_, **__: Event(self), "synchronize": self.synchronize, "_sleep": self.sleep,
            "is_current_stream_capturing": lambda: self.capturing,
        }  # fmt: skip
        for name, answer in answers.items():
            patch.setattr(torch.cuda, name, answer)
        return self


class Stream:
    def __init__(self, device: Device, handle: int) -> None:
        self.on, self.handle, self.cuda_stream, self.device = device, handle, handle, "cuda:0"
        self.ready = 0

    def synchronize(self) -> None:
        if self.on.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        self.on.pass_to(self.ready)

    def wait_stream(self, other: Stream) -> None:
        self.ready = max(self.ready, other.ready)


class Event:
    def __init__(self, device: Device) -> None:
        self.on, self.at = device, 0

    def record(self, stream: Stream) -> None:
        self.at = stream.ready

    def query(self) -> bool:
        return self.at <= self.on.now
