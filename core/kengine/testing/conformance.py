"""The test suite of a backend, for pytest: device-free checks of the plugin, then golden kernels on every target.

    from kengine.testing import BackendConformance

    class TestAcme(BackendConformance):
        backend = "acme"

Each capability that a target has here is put to the test with kernels that are right and kernels that are not: launch
by every golden kernel and by candidates whose kernel does not do the work, compile alone by what a compiler must take
and refuse, time by a speed that is and one that cannot be reached. Nothing is left out silently: a golden kernel that
the backend does not supply fails, a capability that is missing is skipped with the target's own reason, and an expected
failure that no longer fails is warned of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import kengine
from kengine import codec, tasks
from kengine.config import Plan
from kengine.errors import KengineError
from kengine.model import Capability, Status, Target, TargetInfo, Verdict
from kengine.plugins import SPEC_VERSION, registry
from kengine.plugins.backend import Backend, load
from kengine.testing import processes
from kengine.testing.golden import COMPILED, EXPECTED, SHAMS, Golden, check_kernels, find_kernels, make_sham

if TYPE_CHECKING:
    from kengine.engine import Engine

HEAVY = ("torch", "triton", "numpy", "cupy", "ml_dtypes", "cuda", "jax", "matplotlib", "rich", "click")
"""Modules that a plugin's module must not import at its top."""

DRIVERS = ("libcuda.so", "libamdhip64.so", "libhsa-runtime64.so", "libnrt.so")
"""Libraries that `kengine_targets` must not load into the process that asks."""

_LOOK = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
import importlib
import kengine.plugins.hooks
before = set(sys.modules)
module = importlib.import_module(sys.argv[2])
imported = sorted(m for m in set(sys.modules) - before if m.split('.')[0] in json.loads(sys.argv[3]))
module.kengine_targets()
with open('/proc/self/maps') as maps:
    text = maps.read()
print(json.dumps({'imported': imported, 'drivers': [d for d in json.loads(sys.argv[4]) if d in text]}))
"""


class BackendConformance:
    """Subclass with `backend`; the rest has defaults.

    conformance: golden kernels, when they do not stand in the module `conformance` beside the plugin.
    expected_failures: reason by test, named as in the report (`toy:cpu/hang`, `targets`).
    plan: for the golden kernels; raise launch_timeout_s for a slow emulator. targets_bar_s: for listing targets.
    report: where conformance.json is written in the end; default what KENGINE_CONFORMANCE names, else nowhere.
    """

    backend: ClassVar[str]
    conformance: ClassVar[Mapping[str, Any] | None] = None
    expected_failures: ClassVar[Mapping[str, str]] = {}
    plan: ClassVar[Plan] = Plan(launch_timeout_s=5.0)
    targets_bar_s: ClassVar[float] = 15.0
    report: ClassVar[Path | None] = None

    _loaded: ClassVar[Backend | None] = None
    _engines: ClassVar[dict[tuple[str, Plan], Engine]] = {}
    _results: ClassVar[dict[str, str]] = {}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run the tests of golden kernels once for each target and kernel."""
        if "target" in metafunc.fixturenames:
            try:
                names = [str(info.target) for info in load(metafunc.cls.backend).targets()]
            except KengineError:  # the device-free tests say what is wrong
                names = [f"{metafunc.cls.backend}:unknown"]
            metafunc.parametrize("target", names)
        kinds = {"kernel": list(EXPECTED), "compiled": list(COMPILED), "sham": list(SHAMS)}
        for argument in set(kinds) & set(metafunc.fixturenames):
            metafunc.parametrize(argument, kinds[argument])

    @classmethod
    def setup_class(cls) -> None:
        """Begin with nothing loaded."""
        cls._loaded, cls._engines, cls._results = None, {}, {}

    @classmethod
    def teardown_class(cls) -> None:
        """End every engine and write the report."""
        for engine in cls._engines.values():
            engine.close()
        named = os.environ.get("KENGINE_CONFORMANCE")
        path = cls.report or (Path(named) if named else None)
        if path is not None:
            path.write_text(json.dumps(cls._summary(), indent=2) + "\n")

    def test_specification(self) -> None:
        """The plugin loads: version of the specification, names and parameters of every hook, the required ones."""
        with self._result("specification"):
            backend = self._load()
            assert backend.name == self.backend
            assert backend.distribution

    def test_import(self) -> None:
        """The plugin's module imports no toolchain at its top, and asking for targets loads no driver."""
        with self._result("import"):
            found = registry.find(self.backend)
            lists = (json.dumps(sys.path), found.module, json.dumps(HEAVY), json.dumps(DRIVERS))
            child = subprocess.run(
                [sys.executable, "-c", _LOOK, *lists], capture_output=True, text=True, timeout=120, check=False
            )
            assert child.returncode == 0, child.stderr
            seen = json.loads(child.stdout.splitlines()[-1])
            assert seen["imported"] == [], f"{found.module} imports {seen['imported']} at its top"
            assert seen["drivers"] == [], f"kengine_targets loaded {seen['drivers']}; probe in a child"

    def test_targets(self) -> None:
        """Targets are listed quickly, as pure data, and their names read back; each missing capability has a reason."""
        with self._result("targets"):
            begun = time.perf_counter()
            infos = self._load().targets()
            took = time.perf_counter() - begun
            assert took < self.targets_bar_s, f"kengine_targets took {took:.1f} s"
            assert infos, "a backend lists its targets also where none of them can do anything"
            for info in infos:
                assert Target.parse(str(info.target)) == info.target
                assert codec.loads(codec.dumps(info), TargetInfo) == info
                missing = [c for c in Capability if c not in info.capabilities]
                assert all(info.reasons[c.value].strip() for c in missing), f"{info.target}: no reason for {missing}"
                assert not info.emulated or Capability.time in missing, f"{info.target}: an emulator has no time"
                assert {t.backend for t in info.companions} <= {self.backend}
            assert load(self.backend).targets() == infos, "listing targets twice gives two answers"

    def test_expected_failures(self) -> None:
        """Every expected failure names a test of this machine's list; those that do not are warned of."""
        known = {"specification", "import", "targets"}
        for info in self._load().targets():
            tests = (*EXPECTED, *SHAMS, *(f"compile/{name}" for name in COMPILED), "repeated", "closing", "time")
            known |= {f"{info.target}/{name}" for name in tests}
        for name in sorted(set(self.expected_failures) - known):
            warnings.warn(f"expected failure {name!r} names no test", UserWarning, stacklevel=1)

    def test_golden(self, target: str, kernel: str) -> None:
        """A golden kernel ends in exactly the verdict that is right for it."""
        with self._result(f"{target}/{kernel}"):
            verdict = self._verify(target, kernel)
            assert verdict.status in EXPECTED[kernel], f"{verdict.status}: {verdict.message}\n{verdict.log}"
            assert verdict.emulated == self._info(target).emulated
            assert str(verdict.target) == target
            assert verdict.passed or verdict.message.strip(), "a failure says why"

    def test_sham(self, target: str, sham: str) -> None:
        """A candidate whose kernel does not do the work is found out by the modes, with all lint rules switched off."""
        with self._result(f"{target}/{sham}"):
            self._require_launch(target)
            golden = make_sham(self._golden("add_ok"), sham)
            if golden is None:
                pytest.skip("the golden kernel has no host code in Python to cheat in")
            verdict = self._engine(target, replace(self.plan, ignore=("K",))).verify(_item(golden))
            assert verdict.status is Status.sham, f"{verdict.status}: {verdict.message}\n{verdict.log}"

    def test_compiled(self, target: str, compiled: str) -> None:
        """A target that compiles and cannot launch here takes what its compiler must take, and refuses what it must."""
        with self._result(f"{target}/compile/{compiled}"):
            info = self._info(target)
            if Capability.launch in info.capabilities:
                pytest.skip(f"{target} launches here, which compiles first")
            if Capability.compile not in info.capabilities:
                pytest.skip(f"{target} cannot compile here: {info.reasons['compile']}")
            verdict = self._engine(target, replace(self.plan, check=False)).verify(_item(self._golden(compiled)))
            assert verdict.status is COMPILED[compiled], f"{verdict.status}: {verdict.message}\n{verdict.log}"
            if verdict.passed:
                assert verdict.stages.compile is not None
                assert [str(a.target) for a in verdict.stages.compile.artifacts][:1] == [target]
                assert _kernels(verdict), "kengine_compile names the kernels that it compiled"
                assert verdict.stages.launch is None

    def test_repeated(self, target: str) -> None:
        """The same candidate gives the same verdict again, with the same kernels and the same number of launches."""
        with self._result(f"{target}/repeated"):
            first, second = self._verify(target, "add_ok"), self._verify(target, "add_ok")
            assert (first.status, _kernels(first)) == (second.status, _kernels(second))
            assert first.stages.launch is not None and second.stages.launch is not None
            assert first.stages.launch.launches == second.stages.launch.launches
            assert all(first.stages.launch.launches), "kengine_launch names the launches that completed"

    def test_closing(self, target: str) -> None:
        """An engine of its own leaves no process behind, also after a kernel that never ends."""
        with self._result(f"{target}/closing"):
            self._require_launch(target)
            before = processes.descendants()
            with kengine.Engine(target=target, plan=self.plan, workers=1) as engine:
                engine.verify(_item(self._golden("hang")))
                during = processes.descendants() - before
                assert during, "an engine works in processes of its own"
            deadline = time.monotonic() + 5
            while (left := _left(before, during)) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not left, f"processes are left: {sorted(left)}"

    def test_time(self, target: str) -> None:
        """A target that can measure time gives positive samples and a speedup inside its interval."""
        with self._result(f"{target}/time"):
            info = self._info(target)
            if Capability.time not in info.capabilities:
                pytest.skip(f"{target} has no capability time: {info.reasons['time']}")
            golden = self._golden("add_ok")
            with kengine.Engine(target=target, plan=Plan(time=True)) as engine:
                verdict = engine.verify(_item(golden))
            with kengine.Engine(target=target, plan=Plan(min_speedup=1e9)) as engine:
                slow = engine.verify(_item(golden))
            assert slow.status is Status.too_slow, f"a bar that nothing reaches: {slow.status}: {slow.message}"
            assert verdict.status is Status.passed, verdict.message
            assert verdict.stages.time is not None and verdict.stages.time.cases
            for case in verdict.stages.time.cases:
                assert min(case.candidate_ns) > 0 and min(case.baseline_ns) > 0
                assert case.low <= case.speedup <= case.high

    def _load(self) -> Backend:
        cls = type(self)
        if cls._loaded is None:
            cls._loaded = load(self.backend)
        return cls._loaded

    def _info(self, target: str) -> TargetInfo:
        return self._load().info(Target.parse(target))

    def _require_launch(self, target: str) -> TargetInfo:
        info = self._info(target)
        if Capability.launch not in info.capabilities:
            pytest.skip(f"{target} cannot launch here: {info.reasons['launch']}")
        return info

    def _golden(self, kernel: str) -> Golden:
        own = self.conformance
        kernels = find_kernels(self._load().module) if own is None else check_kernels(own)
        assert kernel in kernels, f"backend {self.backend!r} supplies no golden kernel {kernel!r}"
        return kernels[kernel]

    def _verify(self, target: str, kernel: str) -> Verdict:
        self._require_launch(target)
        return self._engine(target, self.plan).verify(_item(self._golden(kernel)))

    def _engine(self, target: str, plan: Plan) -> Engine:
        engine = self._engines.get((target, plan))
        if engine is None:
            for other in [key for key in self._engines if key[0] != target]:
                self._engines.pop(other).close()  # a backend may have a dozen targets, and each its processes
            engine = self._engines[target, plan] = kengine.Engine(target=target, plan=plan, workers=1)
        return engine

    @contextmanager
    def _result(self, name: str) -> Iterator[None]:
        """Note how a test ended; turn a failure that was expected into an xfail, and warn when it did not come."""
        reason = self.expected_failures.get(name)
        try:
            yield
        except pytest.skip.Exception as skipped:
            self._results[name] = f"skipped: {skipped.msg}"
            raise
        except Exception as error:
            self._results[name] = f"failed: {error}"
            if reason is not None:
                self._results[name] = f"expected failure: {reason}"
                pytest.xfail(reason)
            raise
        self._results[name] = "passed"
        if reason is not None:
            warnings.warn(f"{name} was expected to fail ({reason}) and passed: drop it", UserWarning, stacklevel=3)

    @classmethod
    def _summary(cls) -> dict[str, Any]:
        loaded = cls._loaded
        try:
            infos = loaded.targets() if loaded else ()
        except KengineError:  # the report says so under "targets"
            infos = ()
        return {
            "schema": "kengine.conformance/1",
            "kengine": kengine.__version__,
            "specification": list(SPEC_VERSION),
            "backend": cls.backend,
            "distribution": loaded.distribution if loaded else "",
            "version": loaded.version if loaded else "",
            "targets": {str(i.target): [c.value for c in i.capabilities] for i in infos},
            "results": cls._results,
        }


def _item(golden: Golden) -> Any:
    if isinstance(golden.task, str):
        return tasks.parse(golden.candidate, golden.file, golden.task)
    return tasks.pair(golden.candidate, golden.task, golden.file)


def _kernels(verdict: Verdict) -> list[str]:
    compiled = verdict.stages.compile
    return [] if compiled is None else [k.name for a in compiled.artifacts for k in a.kernels]


def _left(before: set[processes.Key], during: set[processes.Key]) -> set[processes.Key]:
    """Processes that came since `before`, also those of `during` that lost their parent and stand below init now."""
    return (processes.descendants() - before) | (during & set(processes.parents()))
