from __future__ import annotations

import pytest
from kengine import tasks
from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import CaseView, KernelResources, Launch, Mode, Target, TaskView, TensorSpec
from kengine.plugins.backend import attach
from kengine.plugins.hooks import Inputs
from kengine.testing import toy
from kengine.testing.toy.conformance import KERNELS

np = pytest.importorskip("numpy")

CPU = Target("toy", "cpu")
CASE = CaseView(0, (TensorSpec("float32", (300,)),))


@pytest.fixture
def backend():
    return attach("toy", "kengine.testing.toy.plugin")


def _inputs(rows: int = 300) -> tuple[Inputs, list[np.ndarray]]:
    arrays = [np.arange(rows, dtype=np.float32), np.ones(rows, np.float32)]
    return Inputs(tuple(Array(TensorSpec("float32", (rows,)), memoryview(a).cast("B")) for a in arrays)), arrays


def _item(name: str) -> tasks.Item:
    golden = KERNELS[name]
    return tasks.parse(golden.candidate, golden.file, golden.task)


def _compile(backend, name, tmp_path, form="function"):
    item = _item(name)
    return backend.compile(item.candidate, TaskView(form, item.candidate.entry), CPU, [], tmp_path)


def test_compile_names_the_kernels_and_launch_runs_them(backend, tmp_path):
    artifact = _compile(backend, "add_ok", tmp_path)
    assert artifact.kernels == (KernelResources("add"),)
    inputs, (x, y) = _inputs()
    outputs = backend.launch(artifact, CASE, inputs, Mode.normal)
    np.testing.assert_array_equal(outputs.value, x + y)
    assert outputs.launches == (Launch("add", (5,)),)
    assert backend.launch(artifact, CASE, inputs, Mode.traced).launches == (Launch("add", (5,)),)


def test_modes_withhold_the_launches(backend, tmp_path):
    artifact = _compile(backend, "add_ok", tmp_path)
    inputs, _ = _inputs()
    assert backend.launch(artifact, CASE, inputs, Mode.noop).launches == ()
    with pytest.raises(CandidateFault, match="launch of add was withheld") as caught:
        backend.launch(artifact, CASE, inputs, Mode.raises)
    assert caught.value.status == "launch_failed"
    assert backend.launch(artifact, CASE, inputs, Mode.normal).launches == (Launch("add", (5,)),)


def test_faults_carry_status_and_line(backend, tmp_path):
    with pytest.raises(CandidateFault) as caught:
        _compile(backend, "compile_error", tmp_path)
    assert (caught.value.status, caught.value.line) == ("compile_failed", 8)
    artifact = _compile(backend, "out_of_bounds", tmp_path)
    inputs, _ = _inputs()
    with pytest.raises(CandidateFault) as caught:
        backend.launch(artifact, CASE, inputs, Mode.normal)
    assert (caught.value.status, caught.value.line) == ("launch_failed", 8)
    assert "argument x: index 319 of axis 0, which has 300 elements, in program 4" in caught.value.message
    with pytest.raises(CandidateFault) as caught:
        _compile(backend, "add_ok", tmp_path, "module")
    assert caught.value.status == "unsupported"


def test_writes_go_through_to_the_inputs(backend, tmp_path):
    artifact = _compile(backend, "mutates_input", tmp_path)
    inputs, (x, _) = _inputs()
    backend.launch(artifact, CASE, inputs, Mode.normal)
    assert x[0] == 0.5


@pytest.mark.parametrize(
    ("index", "problem"),
    [
        (8, "index 8 of axis 0, which has 8 elements"),
        (-1, "index -1 of axis 0"),
        (slice(4, 9), "index 8 of axis 0"),
        (slice(-2, None), "index -2 of axis 0"),
        (slice(None, -1), "index -1 of axis 0"),
        ((0, 3), "index 3 of axis 1, which has 3 elements"),
        ((np.array([0, 12]), 0), "index 12 of axis 0"),
        ((np.array([0, -3]), 0), "index -3 of axis 0"),
    ],
)
def test_memory_notices_what_is_outside(index, problem):
    memory = toy.Memory(np.zeros((8, 3)), "x", 5)
    for touch in (lambda: memory[index], lambda: memory.__setitem__(index, 1.0)):
        with pytest.raises(toy.OutOfBounds, match=f"argument x: {problem}.* in program 5"):
            touch()


@pytest.mark.parametrize("index", [slice(8, 8), slice(9, 5), np.array([], dtype=np.int64), slice(0, 8), 7, (7, 2)])
def test_memory_lets_pass_what_is_inside(index):
    array = np.arange(24.0).reshape(8, 3)
    np.testing.assert_array_equal(toy.Memory(array, "x", 0)[index], array[index])


@pytest.mark.parametrize("index", [(0, 0, 0), slice(None, None, -1), np.ones(8, bool), 1.0, None, ...])
def test_memory_refuses_what_no_chip_has(index):
    with pytest.raises(IndexError, match=r"argument x"):
        toy.Memory(np.zeros((8, 3)), "x", 0)[index]


@pytest.mark.parametrize("grid", [0, -1, (), (2, 0), 1.5, True, "3"])
def test_grids_are_positive_ints(grid):
    with pytest.raises(ValueError, match="add: want a grid of positive ints"):
        toy.kernel(lambda program: None).__class__(_named("add"))[grid]


def _named(name):
    def function(program):
        pass

    function.__name__ = name
    return function


def test_programs_run_in_order_and_get_their_place():
    seen = []
    toy.kernel(lambda program, out: out.append(program))[2, np.int64(2)](seen)
    toy.kernel(lambda program, out: out.append(program))[3](seen)
    assert seen == [(0, 0), (0, 1), (1, 0), (1, 1), 0, 1, 2]
