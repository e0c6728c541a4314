"""The engine's end of a zygote: starts it, asks it for forks, and starts another when it dies."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from kengine import wire
from kengine.engine import standing
from kengine.errors import InfraError, KengineError, PluginLoadError, TargetUnavailable, WorkerLost

_START_S = 180.0
_ANSWER_S = 30.0
_KEPT_ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "NEURON_RT_VISIBLE_CORES", "CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "ROCM_HOME", "CC", "CXX",
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "KENGINE_TRACE",
    "KENGINE_EXTENSION_HEADERS", "KENGINE_SIMT_CXX", "KENGINE_CACHE_VERSIONS",
)  # fmt: skip
_OWN_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    # A constant that is the hash of a text is the same wherever a candidate is compiled.
    "PYTHONHASHSEED": "0",
    # torch opens no device in a fork of a process that has counted devices through the runtime, which importing
    # torch.utils.cpp_extension does; through NVML it may count them.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}  # fmt: skip
_BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from kengine.runner.zygote import main
main(int(sys.argv[2]))
"""
_TELLING = f"import faulthandler; faulthandler.register({int(standing.SIGNAL)}, all_threads=False, chain=True)\n"
"""What judges have beforehand: a signal has them write where they stand, to be told of a task that does not end."""


@dataclass(frozen=True)
class Recipe:
    """What makes two zygotes the same: role, backend module, target, environment and what is imported beforehand.

    packages: further top-level packages that must be importable there.
    """

    role: Literal["runner", "judge"]
    target: str = ""
    module: str = ""
    preload: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Equal for equal recipes."""
        environ = sorted(self.environ.items())
        return json.dumps([self.role, self.target, self.module, self.preload, environ, self.packages])


class Zygote:
    """A warm process that forks judges or runners on request; one request at a time, from any thread."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.generation = 0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None
        self._log: Any = None
        self._starting = False
        self._closed = False
        self._families: set[int] = set()

    def start(self) -> None:
        """Start the process if it does not run. Raises InfraError or PluginLoadError with what it printed."""
        with self._lock:
            self._start()

    def ask(self, message: dict[str, Any], fds: tuple[int, ...] = (), timeout_s: float = _ANSWER_S) -> dict[str, Any]:
        """Send one request and wait for its answer. Raises WorkerLost when the zygote is gone or mute."""
        with self._lock:
            self._start()
            return self._ask(message, fds, timeout_s)

    def ask_running(self, generation: int, message: dict[str, Any]) -> dict[str, Any]:
        """Like `ask`, but only of the process that had this generation; another one knows nothing of its children."""
        with self._lock:
            if self._sock is None or self.generation != generation or self._dead():
                raise WorkerLost(f"the zygote of {self._name} is gone, and all its children with it")
            return self._ask(message, (), _ANSWER_S)

    def end_family(self, generation: int, pid: int) -> None:
        """Kill a child without a sandbox and all that it has started, wherever that has gone."""
        with self._lock:
            self._families.discard(pid)
            if self._process is not None and self.generation == generation and not self._dead():
                standing.end_family(pid, self._process.pid, self._families)

    def close(self) -> None:
        """End the process and all its children; one that is still starting has none, and is not waited for."""
        self._closed = True
        process = self._process
        if self._starting and process is not None:
            process.kill()  # whoever waits for it holds the lock, and learns of it at once
        with self._lock:
            self._stop()

    @property
    def pid(self) -> int | None:
        """Process number, None when it does not run."""
        return self._process.pid if self._process else None

    @property
    def _name(self) -> str:
        return self.recipe.target or self.recipe.role

    def _dead(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _start(self) -> None:
        if self._sock is not None and not self._dead():
            return
        self._stop()
        if self._closed:
            raise WorkerLost(f"the zygote of {self._name} was closed")
        self._starting = True
        try:
            self._launch()
        finally:
            self._starting = False

    def _launch(self) -> None:
        self.generation += 1
        self._families.clear()
        ours, theirs = socket.socketpair()
        path = search_path(("kengine", self.recipe.module.partition(".")[0], *self.recipe.packages))
        boot = (_TELLING if self.recipe.role == "judge" else "") + _BOOT
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", boot, json.dumps(path), str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                env=environment(self.recipe.environ),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise InfraError(f"cannot start a process for {self._name}: {error}") from error
        finally:
            theirs.close()
        self._sock = ours
        if self._closed:  # between the check and the birth of the process
            self._process.kill()
        answer = self._ask(
            {
                "op": "start",
                "target": self.recipe.target,
                "module": self.recipe.module or None,
                "preload": list(self.recipe.preload),
                "path": path,
                "role": self.recipe.role,
            },
            (),
            _START_S,
        )
        if not answer.get("ok"):
            printed = self._printed()
            self._stop()
            message = str(answer.get("message")).removeprefix("start: ")
            known = read_raised(self._name, message)
            raise known or PluginLoadError(f"{self._name} could not be warmed up: {message}\n{printed}".rstrip())

    def _ask(self, message: dict[str, Any], fds: tuple[int, ...], timeout_s: float) -> dict[str, Any]:
        assert self._sock is not None
        try:
            self._sock.settimeout(timeout_s)
            wire.send(self._sock, message, fds)
            answer, extra = wire.receive(self._sock, time.monotonic() + timeout_s)
        except wire.WireError as error:
            printed = self._printed()
            self._stop()
            raise WorkerLost(f"the zygote of {self._name} was lost: {error}\n{printed}".rstrip()) from error
        wire.close_all(extra)
        if message.get("op") == "fork" and answer.get("ok"):
            self._families.add(int(answer["pid"]))
        return answer

    def _printed(self) -> str:
        with suppress(OSError, ValueError):
            self._log.seek(0)
            return str(self._log.read()[-2000:].decode(errors="replace"))
        return ""

    def _stop(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if self._process is not None:
            try:
                self._process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._log is not None:
            self._log.close()
            self._log = None


def read_raised(target: str, message: str) -> KengineError | None:
    """What a backend has raised on purpose in another process, from the name of its class and its text; None for
    anything else. What is missing for a target is no fault of the plugin's, nor is a machine that fails."""
    kind, _, text = message.partition(": ")
    raised = {"TargetUnavailable": TargetUnavailable, "InfraError": InfraError}.get(kind)
    if raised is None:
        return None
    return raised(text if target in text else f"{target}: {text}")


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Write the environment of a zygote: a short list of this process's variables, one thread, the target's own."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return {**kept, **_OWN_ENVIRONMENT, **extra}


def search_path(packages: Sequence[str]) -> list[str]:
    """List where a zygote may import from: the interpreter, what is installed, and the homes of these packages.

    The folder of the caller's script and the working directory are left out: a task file may lie there.
    """
    homes = {str(Path(p).resolve()) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    homes |= {str(Path(p).resolve()) for p in sysconfig.get_paths().values()}
    paths = [p for p in sys.path if p and (_inside(p, homes) or Path(p).name in ("site-packages", "dist-packages"))]
    roots = dict.fromkeys(_root(package) for package in packages if package)
    return paths + [root for root in roots if root and root not in paths]


def _inside(path: str, homes: set[str]) -> bool:
    resolved = Path(path).resolve()
    return any(str(resolved) == home or Path(home) in resolved.parents for home in homes)


def _root(package: str) -> str:
    spec = find_spec(package)
    if spec is None:
        return ""
    if spec.submodule_search_locations:
        return str(Path(next(iter(spec.submodule_search_locations))).parent)
    return str(Path(spec.origin).parent) if spec.origin else ""
