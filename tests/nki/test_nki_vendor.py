"""The paths into the Neuron packages, against a recorded double of the call forms that they use."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neuron_double
import numpy as np
import pytest
from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Candidate, Mode, SourceFile, Target, TaskView, TensorSpec, TimingPlan
from kengine.plugins.hooks import Inputs
from kengine_nki import compile, launch, time, toolchain

NEW = """
import nki
import nki.isa as nisa

@nki.jit
def add(x, y, scale=1.0):
    nisa.check(x.shape == y.shape, "data1 and data2 must have the same shape")
    return (x + y) * scale

@nki.jit(compile_config=None)
def refused(x, y):
    return x

def host(x, y):
    return add[2](x, y, scale=2.0)

def hazard(x, y):
    nisa.hazard()
    return add(x, y)

def broken(x, y):
    return add(x, y[:1])

def own(x, y):
    raise ValueError("no")
"""

OLD = """
import neuronxcc.nki as nki

@nki.jit
def add(x, y):
    return x + y

def host(x, y):
    return add[4, 2](x, y)
"""


@pytest.fixture(autouse=True)
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The double in front of the path; every module of it is forgotten afterwards."""
    site = tmp_path / "site"
    neuron_double.install(site)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(toolchain, "DEVICE", tmp_path / "no_device")
    importlib.invalidate_caches()
    before = set(sys.modules)
    path = list(sys.path)
    yield site
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("nki", "neuronxcc", "candidate_module", "kernel"):
            del sys.modules[name]
    importlib.invalidate_caches()


def inputs(torch: bool = False) -> Inputs:
    arrays = []
    for seed in range(2):
        data = np.random.default_rng(seed).standard_normal((4, 3)).astype(np.float32)
        arrays.append(Array(TensorSpec("float32", (4, 3)), bytearray(data.tobytes()), torch))
    return Inputs(tuple(arrays))


def built(text: str, arch: str, entry: str, folder: Path, torch: bool = False) -> Any:
    folder.mkdir(exist_ok=True)
    candidate = Candidate((SourceFile("kernel.py", text),), entry)
    target = Target("nki", arch)
    return compile.compile_candidate(candidate, TaskView("function", entry), target, [inputs(torch)], folder)


def fault(text: str, arch: str, entry: str, folder: Path, mode: Mode = Mode.normal) -> CandidateFault:
    with pytest.raises(CandidateFault) as caught:
        launch.launch_candidate(built(text, arch, entry, folder), inputs(), mode)
    return caught.value


def expected() -> Any:
    x, y = (a.as_numpy() for a in inputs().args)
    return x + y


@pytest.mark.parametrize(
    ("text", "entry", "recorded", "grid"),
    [
        (NEW, "add", ("simulate", "add", None), (1,)),
        (NEW, "host", ("simulate", "add", 2), (2,)),
        (OLD, "add", ("simulate_kernel", "add", None), (1,)),
        (OLD, "host", ("simulate_kernel", "add", (4, 2)), (4, 2)),
    ],
)
def test_the_simulator_is_called_as_documented(
    tmp_path: Path, text: str, entry: str, recorded: tuple[Any, ...], grid: tuple[int, ...]
) -> None:
    artifact = built(text, "neuron-sim", entry, tmp_path / "work")
    outputs = launch.launch_candidate(artifact, inputs(), Mode.normal)
    factor = 2.0 if (text, entry) == (NEW, "host") else 1.0
    np.testing.assert_array_equal(outputs.value, expected() * np.float32(factor))
    assert [(one.kernel, one.grid) for one in outputs.launches] == [("add", grid)]
    package = sys.modules["nki" if text == NEW else "neuronxcc.nki"]
    assert package.calls == [recorded]


def test_torch_tensors_go_in_and_come_back(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    artifact = built(NEW, "neuron-sim", "add", tmp_path / "work", torch=True)
    value = launch.launch_candidate(artifact, inputs(torch=True), Mode.normal).value
    assert isinstance(value, torch.Tensor)
    np.testing.assert_array_equal(value.numpy(), expected())


def test_knock_outs(tmp_path: Path) -> None:
    artifact = built(NEW, "neuron-sim", "host", tmp_path / "work")
    idle = launch.launch_candidate(artifact, inputs(), Mode.noop)
    assert np.isnan(idle.value).all() and idle.launches == ()
    refused = fault(NEW, "neuron-sim", "host", tmp_path / "work", Mode.raises)
    assert refused.status == "launch_failed" and "launch of kernel 'add' was refused" in refused.message


def test_what_the_simulators_errors_mean(tmp_path: Path) -> None:
    refused = fault(NEW, "neuron-sim", "broken", tmp_path / "work")
    assert refused.status == "compile_failed" and "must have the same shape" in refused.message
    assert refused.line == NEW.splitlines().index("    nisa.check(x.shape == y.shape, "
                                                  '"data1 and data2 must have the same shape")') + 1  # fmt: skip
    hazard = fault(NEW, "neuron-sim", "hazard", tmp_path / "work")
    assert hazard.status == "launch_failed" and "incorrect results on hardware" in hazard.message
    assert fault(NEW, "neuron-sim", "own", tmp_path / "work").status == "launch_failed"
    missing = NEW.replace("nisa.check(x", "nisa.sum(x")
    assert "has no attribute 'sum'" in fault(missing, "neuron-sim", "add", tmp_path / "work").message


@pytest.mark.parametrize(("entry", "lnc"), [("add", 1), ("host", 2)])
def test_a_chip_compiles_what_is_launched(tmp_path: Path, entry: str, lnc: int) -> None:
    artifact = built(NEW, "trn2", entry, tmp_path / "work")
    assert [(k.name, dict(k.details)) for k in artifact.kernels] == [("add", {"neff_bytes": 7})]
    shapes = {"x": (4, 3), "y": (4, 3), **({"scale": 2.0} if entry == "host" else {})}
    assert sys.modules["nki"].calls == [("frontend", "add", shapes, "trn2", lnc), ("options", "trn2", lnc, [])]
    with pytest.raises(CandidateFault) as caught:
        launch.launch_candidate(artifact, inputs(), Mode.normal)
    assert caught.value.status == "unsupported" and "trn2 is not here" in caught.value.message


def test_the_old_generation_compiles_through_baremetal(tmp_path: Path) -> None:
    artifact = built(OLD, "trn1", "add", tmp_path / "work")
    assert [(k.name, dict(k.details)) for k in artifact.kernels] == [("add", {"neff_bytes": 7})]
    assert sys.modules["neuronxcc.nki"].calls == [("baremetal", "add", True)]


def test_the_compilers_code_and_line_are_told(tmp_path: Path) -> None:
    with pytest.raises(CandidateFault) as caught:
        built(NEW, "trn2", "refused", tmp_path / "work")
    assert caught.value.status == "compile_failed"
    assert caught.value.message == "error: NCC_ABCD123 tensor too large for SBUF"


def test_a_version_that_compiles_in_another_way_is_unsupported(tmp_path: Path, packages: Path) -> None:
    (packages / "nki" / "compiler" / "frontend.py").unlink()
    with pytest.raises(CandidateFault) as caught:
        built(NEW, "trn2", "add", tmp_path / "work")
    assert caught.value.status == "unsupported" and "known are 0.3 to 0.6" in caught.value.message


def test_a_device_runs_and_is_profiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_device", lambda: "trn2")
    tool = tmp_path / "neuron-profile"
    summary = json.dumps({"n": {"total_time": 2.5e-05}})
    tool.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n[ "$1" = view ] && echo \'{summary}\'\nexit 0\n'
    )
    tool.chmod(0o755)
    monkeypatch.setattr(toolchain, "find_profiler", lambda: str(tool))
    artifact = built(NEW, "trn2", "host", tmp_path / "work")
    outputs = launch.launch_candidate(artifact, inputs(), Mode.normal)
    np.testing.assert_array_equal(outputs.value, expected() * np.float32(2))
    assert sys.modules["nki"].calls[-1] == ("run", "add", 2)
    timing = time.time_candidate(artifact, [inputs(), inputs()], TimingPlan(calls=3, warmup=1))
    assert timing.samples_ns == (25000, 25000, 25000) and timing.launches == 3
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 8 and asked[0].startswith("capture --neff") and "--profile-nth-exec=2" in asked[0]
    assert asked[1].startswith("view --output-format summary-json -n")
    tool.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    with pytest.raises(CandidateFault, match="capture: broken"):
        time.time_candidate(artifact, [inputs()], TimingPlan(calls=1, warmup=0))


def test_a_simulator_has_no_time(tmp_path: Path) -> None:
    artifact = built(NEW, "neuron-sim", "add", tmp_path / "work")
    with pytest.raises(CandidateFault, match="no time of its own"):
        time.time_candidate(artifact, [inputs()], TimingPlan(calls=1, warmup=0))


def test_the_interpreter_shadows_a_real_package_only_while_it_works(tmp_path: Path) -> None:
    import nki

    real = sys.modules["nki"]
    text = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n@nki.jit\ndef copy(x, y):\n" \
        "    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n    nl.store(out, nl.load(x))\n" \
        "    return out\n"  # fmt: skip
    artifact = built(text, "sim", "copy", tmp_path / "work")
    outputs = launch.launch_candidate(artifact, inputs(), Mode.normal)
    np.testing.assert_array_equal(outputs.value, inputs().args[0].as_numpy())
    assert sys.modules["nki"] is real is nki and real.calls == []
