"""A small engine and judge for the tests of the runner: starts a zygote, lends memory, looks for leftovers."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from kengine import codec, wire
from kengine.array import ITEMSIZE, span
from kengine.config import Limits
from kengine.model import Candidate, CaseView, SourceFile, TaskView, TensorSpec
from kengine.runner.sandbox import identity

HERE = Path(__file__).parent
CORE = Path(sys.modules["kengine"].__file__).parents[1]
BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]);"
    "from kengine.runner.zygote import main; main(int(sys.argv[2]))"
)
F4 = TensorSpec("float32", (4,))


class Zygote:
    """The engine's end of one zygote."""

    def __init__(self, wrap: tuple[str, ...] = (), without: tuple[str, ...] = (), path: tuple[str, ...] = ()) -> None:
        self.without = without
        self.mark = f"marker-{secrets.token_hex(8)}"
        self.sock, theirs = socket.socketpair()
        installed = [p for p in sys.path if p and ("site-packages" in p or p.startswith(sys.base_prefix))]
        self.path = [*path, *installed, str(CORE), str(HERE)]
        self.process = subprocess.Popen(
            [*wrap, sys.executable, "-I", "-c", BOOT, json.dumps(self.path), str(theirs.fileno()), self.mark],
            pass_fds=(theirs.fileno(),),
            env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()

    def start(self, module: str | None = "double_backend", preload=("numpy", "torch"), target="double:cpu") -> dict:
        return self.ask({"op": "start", "target": target, "module": module, "preload": list(preload),
                         "path": self.path, "role": "runner"}, timeout_s=60)  # fmt: skip

    def ask(self, message: dict, fds: tuple[int, ...] = (), timeout_s: float = 20) -> dict:
        wire.send(self.sock, message, fds)
        answer, _ = wire.receive(self.sock, time.monotonic() + timeout_s)
        return answer

    def processes(self) -> list[int]:
        """Every process that was forked, not executed, from this zygote, itself left out."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != self.process.pid:
                with contextlib.suppress(OSError):
                    state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
                    if self.mark.encode() in Path(f"/proc/{name}/cmdline").read_bytes() and state != "Z":
                        found.append(int(name))
        return found

    def close(self) -> int:
        self.sock.close()
        return self.process.wait(timeout=15)


class Runner:
    """The engine's end of one runner, with the judge's memory; `printed` is what came on its output, cut."""

    def __init__(self, zygote: Zygote, tmp: Path, limits: Limits | None = None, device="cpu", **extra) -> None:
        self.zygote = zygote
        self.workdir = tmp / f"r{secrets.token_hex(4)}"
        self.workdir.mkdir(mode=0o777)
        self.workdir.chmod(0o777)
        self.limits = limits or Limits()
        self.printed, self.total = b"", 0
        self.sock, theirs = socket.socketpair()
        read, write = os.pipe()
        self._reader = threading.Thread(target=self._drain, args=(read,), daemon=True)
        self._reader.start()
        message = {"op": "fork", "kind": "runner", "limits": {**asdict(self.limits), "device": device}, "holder": "r1",
                   "workdir": str(self.workdir), "without": list(zygote.without), **extra}  # fmt: skip
        self.begun = time.perf_counter()
        answer = zygote.ask(message, (theirs.fileno(), write))
        theirs.close()
        os.close(write)
        assert answer["ok"], answer
        self.pid = answer["pid"]
        self.ready, _ = wire.receive(self.sock, time.monotonic() + 20)
        self.ready_s = time.perf_counter() - self.begun
        self.ended = False
        self.target = f"double:{device}"

    def _drain(self, read: int) -> None:
        with open(read, "rb", buffering=0) as pipe:
            while data := pipe.read(1 << 16):
                self.total += len(data)
                self.printed = (self.printed + data)[:100_000]

    def ask(self, op: str, body: dict | None = None, fds: tuple[int, ...] = (), timeout_s: float = 20) -> dict:
        nonce = secrets.randbits(53)
        self.sock.settimeout(timeout_s)
        wire.send(self.sock, {"op": op, "n": nonce, **(body or {})}, fds)
        reply, extra = wire.receive(self.sock, time.monotonic() + timeout_s)
        wire.close_all(extra)
        self.nonce_right = reply.get("n") == nonce
        return reply

    def load(self, text: str, view: TaskView | None = None, **fields) -> dict:
        candidate = Candidate((SourceFile("kernel.py", text),), "candidate", **fields)
        view = view or TaskView("function", "candidate")
        return self.ask("load", {"candidate": codec.to_json(candidate), "view": codec.to_json(view),
                                 "target": self.target})  # fmt: skip

    def compile(self, text: str, view: TaskView | None = None) -> dict:
        reply = self.load(text, view)
        return self.ask("compile", {"target": self.target, "bundles": []}) if reply["ok"] else reply

    def launch(self, lent: Lent, timeout_s: float = 20, mode: str = "normal") -> dict:
        body = {"case": codec.to_json(lent.case), "mode": mode, "bundle": lent.bundle}
        return self.ask("launch", body, (lent.fd,), timeout_s)

    def run(self, text: str, lent: Lent | None = None, view: TaskView | None = None, timeout_s: float = 20) -> dict:
        """Compile and launch; the first reply that is not ok, or the launch's."""
        reply = self.compile(text, view)
        if not reply["ok"]:
            return reply
        with contextlib.ExitStack() as stack:
            return self.launch(lent or stack.enter_context(Lent([F4], [F4])), timeout_s)

    def reap(self, timeout_s: float = 3) -> dict:
        return self.zygote.ask({"op": "reap", "pid": self.pid, "timeout_s": timeout_s})

    def kill(self) -> dict:
        answer = self.zygote.ask({"op": "kill", "pid": self.pid})
        if not self.ended:
            self.ended = True
            self.sock.close()
            self._reader.join(timeout=5)
        return answer


class Lent:
    """A judge's arena with inputs 0, 1, 2, ... and poisoned sinks, as one lends it."""

    def __init__(self, args: list, outputs: list[TensorSpec], writes=(), destination: bool = False, state=None,
                 init_args=()) -> None:  # fmt: skip
        self.cursor = 0
        self.places: list[tuple[TensorSpec, int, int]] = []
        trees = [self._tree(a) for a in args]
        init_trees = [self._tree(a) for a in init_args]
        states = {name: self._tree(spec) for name, spec in (state or {}).items()}
        filled = len(self.places)
        wanted = [self._tree(s) for s in outputs] if destination else []
        self.sinks = [{"at": self._take(_size(s)), "nbytes": _size(s)} for s in outputs]
        self.sinks += [{"at": self._take(_size(args[i])), "nbytes": _size(args[i])} for i in writes]
        self.fd = os.memfd_create("arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, self.cursor)
        fcntl_seal(self.fd)
        os.pwrite(self.fd, b"\xff" * self.cursor, 0)
        for spec, at, nbytes in self.places[:filled]:
            os.pwrite(self.fd, _counting(spec.dtype, nbytes), at)
        self.case = CaseView(0, tuple(outputs), tuple(writes))
        self.bundle = {"arena": {"via": "fd", "nbytes": self.cursor}, "args": trees, "init_args": init_trees,
                       "state": states, "destination": wanted, "sinks": self.sinks}  # fmt: skip

    def _take(self, nbytes: int) -> int:
        at = self.cursor
        self.cursor += -(-(nbytes + 1) // 256) * 256
        return at

    def _tree(self, value):
        if isinstance(value, TensorSpec):
            nbytes = span(value)
            at = self._take(nbytes)
            self.places.append((value, at, nbytes))
            return {"k": "array", "spec": codec.to_json(value), "at": at, "nbytes": nbytes}
        if isinstance(value, (list, tuple)):
            return {"k": type(value).__name__, "items": [self._tree(v) for v in value]}
        if isinstance(value, dict):
            return {"k": "dict", "items": {k: self._tree(v) for k, v in value.items()}}
        if isinstance(value, complex):
            return {"k": "complex", "v": [value.real, value.imag]}
        return {"k": "value", "v": value}

    def sink(self, index: int, dtype: str = "float32"):
        import numpy

        place = self.sinks[index]
        return numpy.frombuffer(os.pread(self.fd, place["nbytes"], place["at"]), dtype=dtype).tolist()

    def input(self, index: int, dtype: str = "float32"):
        import numpy

        _, at, nbytes = self.places[index]
        return numpy.frombuffer(os.pread(self.fd, nbytes, at), dtype=dtype).tolist()

    def __enter__(self) -> Lent:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def fcntl_seal(fd: int) -> None:
    import fcntl

    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)


def _size(spec: TensorSpec) -> int:
    total = ITEMSIZE[spec.dtype]
    for n in spec.shape:
        total *= n
    return total


def _counting(dtype: str, nbytes: int) -> bytes:
    import numpy

    if dtype == "bfloat16":
        return (numpy.arange(nbytes // 2, dtype=numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
    kind = numpy.dtype(dtype)
    return numpy.arange(nbytes // kind.itemsize).astype(kind).tobytes()


def wait_until(condition, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def own_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(scope="session")
def warm():
    """One zygote for all tests that leave it alone."""
    zygote = Zygote()
    answer = zygote.start()
    assert answer["ok"], answer
    yield zygote
    assert zygote.close() == 0
    assert zygote.processes() == []


@pytest.fixture
def tmp_path():
    """A folder that other users can get to, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="kengine-runner-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def runners(warm, tmp_path):
    """Makes runners; afterwards all are killed and nothing of them may be left anywhere."""
    zygote = warm
    made: list[Runner] = []
    descriptors = own_descriptors()

    def make(limits: Limits | None = None, **extra) -> Runner:
        made.append(Runner(zygote, tmp_path, limits, **extra))
        return made[-1]

    yield make
    for runner in made:
        assert runner.kill()["ok"]
        shutil.rmtree(runner.workdir, ignore_errors=True)
        assert not runner.workdir.exists()
    assert wait_until(lambda: zygote.processes() == []), zygote.processes()
    assert zygote.ask({"op": "ping"})["families"] == 0
    assert not [e.name for e in os.scandir("/dev/shm") if e.stat().st_uid >= identity.FIRST]
    assert wait_until(lambda: own_descriptors() <= descriptors), os.listdir("/proc/self/fd")


@pytest.fixture
def lend():
    """Makes lent memory and closes it."""
    made: list[Lent] = []

    def make(*args, **kwargs) -> Lent:
        made.append(Lent(*args, **kwargs))
        return made[-1]

    yield make
    for lent in made:
        os.close(lent.fd)


@pytest.fixture
def zygotes():
    """Makes zygotes of a test's own, and kills what is left of them."""
    made: list[Zygote] = []

    def make(**kwargs) -> Zygote:
        made.append(Zygote(**kwargs))
        return made[-1]

    yield make
    for zygote in made:
        zygote.sock.close()
        if zygote.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                zygote.process.wait(timeout=10)
            if zygote.process.poll() is None:
                zygote.process.send_signal(signal.SIGKILL)
                zygote.process.wait()
        assert wait_until(lambda z=zygote: z.processes() == []), zygote.processes()


@pytest.fixture
def tools():
    """Names from this file for tests, which cannot import it."""
    import types

    return types.SimpleNamespace(Zygote=Zygote, Runner=Runner, Lent=Lent, wait_until=wait_until, F4=F4)
