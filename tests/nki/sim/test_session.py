"""Options, counts, budgets, knock-outs, races and loading."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from kengine_nki.sim import (
    BudgetExceeded,
    KnockedOut,
    NkiError,
    Options,
    Unsupported,
    facade,
    load,
    run_twice_and_compare,
    session,
)
from sim_harness import random
from sim_kernels import NEW, OLD

HEADER = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n"


def test_stats_of_a_matmul() -> None:
    a, b = random(256, 256), random(256, 512)
    with session() as run:
        load(NEW, "new.py").tiled_matmul(a, b)
    stats = run.stats
    assert stats.by_instruction == {"dma_copy": 10, "nc_matmul": 4, "tensor_copy": 2}
    assert stats.by_engine == {"dma": 10, "tensor": 4, "vector": 2}
    assert stats.instructions == 16 and stats.compute_instructions == 6
    assert stats.macs == 256 * 256 * 512
    assert stats.dma_bytes == 4 * (256 * 256 + 2 * 256 * 512 + 256 * 512)
    assert stats.engine_cycles["tensor"] == 4 * 512 * 4  # float32 takes four passes
    assert stats.estimated_cycle_lower_bound == max(stats.engine_cycles.values())
    assert [(x.kernel, x.generation, x.grid, x.instructions) for x in run.launches] == [
        ("tiled_matmul", "new", (1,), 16)
    ]


def test_budget_says_how_far_it_came() -> None:
    source = HEADER + """
@nki.jit
def spin(x):
    t = nl.load(x)
    while True:
        nisa.tensor_copy(dst=t, src=t)
"""
    module = load(source, "spin.py")
    with session(Options(instruction_budget=500)) as run, pytest.raises(BudgetExceeded) as caught:
        module.spin(random(4, 4))
    assert caught.value.instructions == 500 and caught.value.budget == 500
    assert caught.value.line == 9
    assert "came to 500 instructions, the whole budget of 500" in str(caught.value)
    assert run.stats.by_instruction["tensor_copy"] >= 490


def test_budget_covers_all_launches_and_allocations() -> None:
    module = load(NEW, "new.py")
    with session(Options(instruction_budget=30)):
        module.softmax(random(8, 8))
        with pytest.raises(BudgetExceeded):
            for _ in range(10):
                module.softmax(random(8, 8))
    source = HEADER + "@nki.jit\ndef grow(x):\n    while True:\n        t = nl.ndarray((4, 4), nl.float32, nl.sbuf)\n"
    with session(Options(instruction_budget=100)), pytest.raises(BudgetExceeded):
        load(source, "grow.py").grow(random(4, 4))


CHEATING = NEW + '''

def careful(x):
    try:
        return softmax(x)
    except Exception:
        import numpy as np
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)
'''


@pytest.mark.parametrize("source", [NEW, OLD])
def test_knockout_noop_returns_poison(source: str) -> None:
    x = random(40, 16)
    with session() as run:
        run.knockout = "noop"
        out = load(source, "k.py").softmax(x)
    assert out.shape == x.shape and out.dtype == x.dtype and np.isnan(out).all()


def test_knockout_noop_leaves_inputs_alone() -> None:
    x = np.zeros((4, 4), np.float32)
    source = HEADER + "@nki.jit\ndef kernel(x):\n    nl.store(x, nl.add(nl.load(x), 1.0))\n    return x\n"
    with session() as run:
        run.knockout = "noop"
        out = load(source, "k.py").kernel(x)
    assert np.isnan(out).all() and (x == 0).all()


def test_knockout_raise_exposes_a_fallback() -> None:
    module, x = load(CHEATING, "cheat.py"), random(40, 16)
    with session() as run:
        run.knockout = "raise"
        with pytest.raises(KnockedOut, match="softmax"):
            module.softmax(x)
        assert not np.isnan(module.careful(x)).any()
    assert [launch.kernel for launch in run.launches] == ["softmax", "softmax"]


RACE = HEADER + """
@nki.jit
def running(x):
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    total = nl.zeros((128, 4), nl.float32, buffer=nl.sbuf)
    for i in nl.{loop}(4):
        nisa.tensor_tensor(dst=total, data1=total, data2=nl.load(x[:, i * 4:(i + 1) * 4]), op=nl.add)
        nl.store(out[:, i * 4:(i + 1) * 4], total)
    return out
"""


def test_loop_carried_dependence_in_affine_range_is_a_race() -> None:
    x = random(128, 16)
    out, races, run = run_twice_and_compare(load(RACE.format(loop="affine_range"), "race.py").running, [x])
    np.testing.assert_allclose(out, np.cumsum(x.reshape(128, 4, 4), 1).reshape(128, 16), rtol=1e-5, atol=1e-5)
    assert len(races) == 1 and races[0].output == 0 and races[0].different > 1000
    assert "race: output 0 differs in" in str(races[0])
    assert run.stats.by_instruction["tensor_tensor"] == 4
    _, races, _ = run_twice_and_compare(load(RACE.format(loop="sequential_range"), "seq.py").running, [x])
    assert races == []


def test_race_between_programs_of_a_grid() -> None:
    source = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0)
    nl.store(out{place}, nl.load(x) * (i + 1.0))
    return out
"""
    racy = load(source.format(place=""), "racy.py").kernel
    _, races, _ = run_twice_and_compare(lambda x: racy[3](x), [random(4, 4)])
    assert len(races) == 1


def test_grid_programs_share_their_output() -> None:
    source = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    i, j = nl.program_id(0), nl.program_id(1)
    assert (nl.num_programs(0), nl.num_programs(1), nl.program_ndim()) == (2, 3, 2)
    nl.store(out[i * 4:(i + 1) * 4, j * 8:(j + 1) * 8], nl.load(x[i * 4:(i + 1) * 4, j * 8:(j + 1) * 8]) + 1)
    return out
"""
    x = random(8, 24)
    with session() as run:
        out = load(source, "grid.py").kernel[2, 3](x)
    np.testing.assert_array_equal(out, x + 1)
    assert run.launches[0].grid == (2, 3)


LNC = HEADER + """
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    me = nl.program_id(0)
    t = nl.load(x[me * 4:(me + 1) * 4, :])
    {sync}
    nl.store(out[me * 4:(me + 1) * 4, :], t)
    return out
"""


def test_lnc_two_writes_both_halves_and_is_repeatable() -> None:
    x = random(8, 8)
    module = load(LNC.format(sync="nisa.core_barrier(data=out, cores=(0, 1))"), "lnc.py")
    for _ in range(5):
        with session() as run:
            np.testing.assert_array_equal(module.kernel[2](x), x)
        assert run.launches[0].grid == (2,)
    with session(Options(lnc=2)):
        np.testing.assert_array_equal(module.kernel(x), x)


DEADLOCKS = {
    "if me == 1: nisa.core_barrier(data=out, cores=(0, 1))": "deadlock: program 1 waits .* program 0 has ended",
    "if me == 0: nisa.core_barrier(data=out, cores=(0, 1))": "deadlock: program 0 waits .* program 1 has ended",
    "nisa.sendrecv(src=t, dst=t, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=me)": "deadlock: program",
}


@pytest.mark.parametrize("sync", DEADLOCKS)
def test_lnc_deadlock(sync: str) -> None:
    module = load(LNC.format(sync=sync), "deadlock.py")
    with session(), pytest.raises(NkiError, match=DEADLOCKS[sync]) as caught:
        module.kernel[2](random(8, 8))
    assert caught.value.line == 10


def test_lnc_fault_in_one_program_ends_both() -> None:
    module = load(LNC.format(sync="t = t[:, 0:9] if me else t; nisa.core_barrier(data=out, cores=(0, 1))"), "fault.py")
    with session(), pytest.raises(NkiError, match=r"index range \[0, 8\]"):
        module.kernel[2](random(8, 8))


@pytest.mark.parametrize(("grid", "message"), [((2,), "NKI only supports LNC 1 or 2, but got \\(2,\\)"),
                                               (3, "NKI only supports LNC 1 or 2, but got 3")])  # fmt: skip
def test_bad_lnc_grid(grid: Any, message: str) -> None:
    module = load(LNC.format(sync="pass"), "lnc.py")
    with session(), pytest.raises(NkiError, match=message):
        module.kernel[grid](random(8, 8))


def test_lnc_needs_trn2() -> None:
    module = load(LNC.format(sync="pass"), "lnc.py")
    with session(Options(chip="trn1")), pytest.raises(NkiError, match="only supported for NeuronCore-v3 or newer"):
        module.kernel[2](random(8, 8))


@pytest.mark.parametrize("settings", [{"chip": "trn9"}, {"lnc": 3}, {"instruction_budget": 0}])
def test_bad_options(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Options(**settings)


def test_facade_restores_what_was_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    real = types.ModuleType("nki")
    for name in [m for m in sys.modules if m.partition(".")[0] in ("nki", "neuronxcc")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nki", real)
    with facade():
        import nki

        assert nki is not real and callable(nki.jit)
        import neuronxcc.nki.language as old

        assert old.arange(4).shape == (4,)
    left = {name: m for name, m in sys.modules.items() if name.partition(".")[0] in ("nki", "neuronxcc")}
    assert left == {"nki": real}


BAD_FILES = {
    "empty": ("", None),
    "syntax": ("import nki\ndef f(:\n", "SyntaxError"),
    "binary": ("\x00\x01\x02", "not Python source|SyntaxError"),
    "mixed": ("import nki\nimport neuronxcc.nki as old\n", "mixed NKI generations"),
    "unknown name": ("from nki.isa import tensor_frobnicate\n", "cannot import name 'tensor_frobnicate'"),
    "unknown module": ("import no_such_module_at_all\n", "No module named 'no_such_module_at_all'"),
    "raises": ("import nki\nraise ValueError('no')\n", "ValueError: no"),
    "removed mode": ("import nki\n@nki.jit(mode='simulation')\ndef k(x):\n    return x\n", "keyword argument 'mode'"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_bad_file(what: str) -> None:
    source, message = BAD_FILES[what]
    if message is None:
        assert not [v for v in vars(load(source, "empty.py")).values() if hasattr(v, "func")]
        return
    with pytest.raises(NkiError, match=message) as caught:
        load(source, "bad.py")
    assert not isinstance(caught.value, Unsupported)


def test_mixed_generations_name_the_second_import() -> None:
    with pytest.raises(NkiError) as caught:
        load("import nki\n\nfrom neuronxcc.nki.language import arange\n", "mixed.py")
    assert (caught.value.line, caught.value.text) == (3, "from neuronxcc.nki.language import arange")


def test_mixed_generations_inside_a_kernel() -> None:
    source = HEADER + """
@nki.jit
def kernel(x):
    import neuronxcc.nki.language as old
    return old.load(x)
"""
    with session(), pytest.raises(NkiError, match=r"cannot call functions of .neuronxcc") as caught:
        load(source, "mixed.py").kernel(random(4, 4))
    assert caught.value.line == 8


def test_fallback_imports_are_not_mixing() -> None:
    source = "try:\n    import nki\nexcept ImportError:\n    import neuronxcc.nki as nki\nx = nki.jit\n"
    assert callable(load(source, "fallback.py").x)


def test_missing_ecosystem_package_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="module torch_xla") as caught:
        load("import nki\nimport torch_xla.core\n", "xla.py")
    assert caught.value.line == 2


def test_old_entry_points_run_the_kernel() -> None:
    source = OLD + """
def by_simulation(x):
    return nki.simulate_kernel(softmax, x)

timed = nki.benchmark(warmup=1, iters=2)(softmax)
device = nki.baremetal(softmax)
"""
    x = random(40, 16)
    module = load(source, "entry.py")
    with session():
        want = module.softmax(x)
        for entry in (module.by_simulation, module.timed, module.device):
            np.testing.assert_array_equal(entry(x), want)
        with pytest.raises(Unsupported, match="does not time kernels"):
            _ = module.timed.benchmark_result


def test_compiler_directives_have_no_effect() -> None:
    source = """
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.language as nl

@nki.compiler.skip_middle_end_transformations
@nki.jit
def kernel(x):
    t = nl.ndarray((8, 8), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))
    t[...] = nl.load(x)
    out = nl.ndarray((8, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, t)
    return out
"""
    x = random(8, 8)
    with session():
        np.testing.assert_array_equal(load(source, "directives.py").kernel(x), x)


def test_sessions_leave_nothing_behind() -> None:
    from kengine_nki.sim.program import state
    from kengine_nki.sim.session import active_session

    with session(), pytest.raises(NkiError):
        load(HEADER + "@nki.jit\ndef k(x):\n    return x[99]\n", "k.py").k(random(4, 4))
    assert active_session() is None and state.program is None


OLD_STYLE = """
import neuronxcc.nki.language as nl
from neuronxcc.nki import jit

@jit
def kernel(v1):
    import numpy as np
    import neuronxcc.nki as nki
    import neuronxcc.nki.isa as nisa
    out = nl.ndarray((4, 128, 128), dtype=np.float32, buffer=nl.shared_hbm)
    eye = nl.shared_constant(np.identity(128, dtype=np.float32))
    local = nl.ndarray((nl.par_dim(128), 128), dtype=np.float32, name='identity', buffer=nl.sbuf)
    tiles = nl.ndarray((2, nl.par_dim(128), 256), dtype=np.float32, name='146.2', buffer=nl.sbuf)
    banks = nl.zeros((4, 8, nl.par_dim(128), 512), dtype=np.float32, buffer=nl.psum, lazy_initialization=True)
    tops = nl.ndarray((4, nl.par_dim(128), 1), dtype=np.float32, buffer=nl.sbuf)
    parts = nl.ndarray((2, 4, nl.par_dim(128), 1), dtype=np.float32, buffer=nl.sbuf)
    i_p, i_f = nl.arange(128)[:, None], nl.arange(128)[None, :]
    local[i_p, i_f] = nl.load(eye[i_p, i_f], dtype=np.float32, mask=None)
    for i in nl.affine_range(2):
        tiles[i, nl.arange(128)[:, None, None], 128 * nl.arange(2)[None, :, None] + nl.arange(128)[None, None, :]] = \\
            nl.load(v1[nl.arange(128)[:, None, None], 2 * i + nl.arange(2)[None, :, None],
                       nl.arange(128)[None, None, :]], dtype=np.float32, mask=None)
        for j in nl.affine_range(2):
            banks[2 * i + j, 0, i_p, i_f] = nisa.nc_matmul(
                tiles[i, i_p, 128 * j + i_f], local[i_p, i_f], is_moving_onezero=True, is_transpose=True, mask=None)
            for k in nl.affine_range(2):
                parts[k, 2 * i + j, i_p, 0] = nisa.tensor_reduce(
                    nl.max, data=banks[2 * i + j, 0, i_p, 64 * k + nl.arange(64)[None, :]], mask=None, axis=[1],
                    dtype=np.float32, negate=False)
                tops[2 * i + j, i_p, 0] = nl.loop_reduce(
                    parts[k, 2 * i + j, i_p, 0], op=np.max, loop_indices=[k], mask=None, dtype=np.float32)
            ' end loop j '
    for i in nl.affine_range(4):
        scaled = nisa.tensor_scalar(data=banks[i, 0, i_p, i_f], op0=nl.subtract, operand0=tops[i, i_p, 0],
                                    op1=nl.multiply, operand1=np.dtype(np.float32).type(0.5),
                                    engine=nki.isa.unknown_engine)
        nl.store(out[i, i_p, i_f], value=scaled, mask=None)
    return out
"""


def test_block_dimensions_hints_and_imports_inside_the_kernel() -> None:
    """The style of machine-written old kernels: block dims in front of par_dim, 3-D grids, loop_reduce, hints."""
    x = random(128, 4, 128)
    with session() as run:
        out = load(OLD_STYLE, "old_style.py").kernel(x)
    want = x.transpose(1, 2, 0)
    np.testing.assert_allclose(out, (want - want.max(2, keepdims=True)) * np.float32(0.5), rtol=1e-6, atol=1e-6)
    assert run.warnings == []


def test_program_ndim_is_zero_without_a_grid() -> None:
    source = HEADER + """
@nki.jit
def kernel(x):
    assert nl.program_ndim() == {ndim} and nl.program_id(0) == 0 and nl.num_programs(0) == 1
    return x
"""
    with session():
        module = load(source.format(ndim=0).replace("return x", "nl.store(x, nl.load(x))\n    return x"), "a.py")
        module.kernel(random(4, 4))
        module = load(source.format(ndim=1).replace("return x", "nl.store(x, nl.load(x))\n    return x"), "b.py")
        module.kernel[1](random(4, 4))


def test_lists_built_in_affine_range_are_not_races() -> None:
    """Python lists follow the order of iterations on hardware too."""
    source = HEADER + """
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    tiles = []
    for i in nl.affine_range(4):
        tiles.append(nl.load(x[:, i * 4:(i + 1) * 4]))
    at = 0
    for i in nl.affine_range(4):
        nl.store(out[:, at:at + 4], tiles[i])
        at += 4
    return out
"""
    x = random(128, 16)
    out, races, _ = run_twice_and_compare(load(source, "lists.py").kernel, [x])
    np.testing.assert_array_equal(out, x)
    assert races == []


def test_accumulate_by_iteration_is_not_a_race() -> None:
    source = NEW.replace("moving=right)", "moving=right, accumulate=t > 0)")
    _, races, _ = run_twice_and_compare(load(source, "acc.py").tiled_matmul, [random(256, 128), random(256, 512)])
    assert races == []


def test_unlisted_compiler_names_are_unsupported() -> None:
    with pytest.raises(Unsupported, match=r"neuronxcc\.nki\.compiler\.mystery"):
        load("import neuronxcc.nki.compiler as ncc\nncc.mystery()\n", "mystery.py")
    assert load("import nki.compiler as c\nhas = hasattr(c, 'mystery')\n", "has.py").has is False


def test_a_special_first_iteration_is_not_a_race() -> None:
    source = HEADER + """
@nki.jit
def kernel(x):
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    for i in nl.affine_range(4):
        part = nl.load(x[:, i * 4:(i + 1) * 4])
        if i == 0:
            nisa.tensor_copy(dst=total, src=part)
        else:
            nisa.tensor_tensor(dst=total, data1=total, data2=part, op=nl.add)
    nl.store(out, total)
    return out
"""
    x = random(128, 16)
    out, races, _ = run_twice_and_compare(load(source, "first.py").kernel, [x])
    np.testing.assert_allclose(out, x.reshape(128, 4, 4).sum(1), rtol=1e-5, atol=1e-5)
    assert races == []
