"""Each function of nki.language, in both generations, against its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kengine_nki.sim.coverage import coverage
from kengine_nki.sim.facade.arguments import BINARY, REDUCE, UNARY
from sim_harness import random, run, vector_erf

ENTRIES = {(e.generation, e.name): e for e in coverage() if e.module == "language" and e.supported}
POSITIVE = {"log", "sqrt", "rsqrt", "reciprocal"}
INTEGER = {"invert", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"}
COMPARE = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
           "logical_xor", "logical_not"}  # fmt: skip


def check(generation: str, name: str, actual: Any, rtol: float = 2e-6, atol: float = 1e-6, **names: Any) -> None:
    """Compare with the entry's own formula, evaluated in float64."""
    wide = {k: v.astype(np.float64) if getattr(v, "dtype", None) == np.float32 else v for k, v in names.items()}
    expected = eval(ENTRIES[generation, name].formula, {"np": np, "erf": vector_erf, **wide})
    actual = np.asarray(actual)
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(actual.astype(np.float64), np.asarray(expected, np.float64), rtol=rtol, atol=atol)


def chip_for(name: str) -> str:
    return "trn3" if name in ("abs_max", "abs_min") else "trn2"


@pytest.mark.parametrize(("generation", "name"), [k for k in ENTRIES if k[1] in UNARY])
def test_unary(generation: str, name: str) -> None:
    x = random(128, 65)
    if name in INTEGER:
        x = (x * 1000).astype(np.int32)
    elif name in POSITIVE:
        x = np.abs(x) + np.float32(0.1)
    elif name == "logical_not":
        x[:, ::2] = 0
    out = run(generation, lambda lib, t: getattr(lib.language, name)(t["x"]), {"x": x})
    assert out.dtype == (np.uint8 if name in COMPARE else x.dtype)
    check(generation, name, out, x=x)


@pytest.mark.parametrize(("generation", "name"), [k for k in ENTRIES if k[1] in BINARY])
@pytest.mark.parametrize("shape", [(128, 33), (128, 1)])
def test_binary(generation: str, name: str, shape: tuple[int, int]) -> None:
    x, y = random(128, 33), random(*shape, seed=5)
    if name in INTEGER:
        x = (x * 1000).astype(np.int32)
        y = np.abs(y * 3).astype(np.int32)
        if name == "right_shift":
            x = np.abs(x)
    elif name in COMPARE:
        x, y = np.rint(x), np.rint(y)
    elif name == "power":
        x = np.abs(x)
    elif name in ("mod", "fmod"):
        y = np.where(np.abs(y) < 0.1, np.float32(0.5), y)
    elif name == "divide":
        y = np.sign(y) * (np.abs(y) + np.float32(0.1))
    if shape[1] == 1 and name in INTEGER:
        y = np.broadcast_to(y, x.shape).copy()
    out = run(
        generation, lambda lib, t: getattr(lib.language, name)(t["x"], t["y"]), {"x": x, "y": y}, chip_for(name)
    )
    assert out.dtype == (np.uint8 if name in COMPARE else x.dtype)
    check(generation, name, out, 1e-5, 2e-6, x=x, y=y)


@pytest.mark.parametrize(("generation", "name"), [k for k in ENTRIES if k[1] in REDUCE])
@pytest.mark.parametrize("axis", [(1,), (1, 2)])
def test_reduce(generation: str, name: str, axis: tuple[int, ...]) -> None:
    x = random(64, 6, 5)
    if name == "all":
        x[::2, 1, 1] = 0
    kw = {} if (name in ("all", "var") and generation == "old") or name == "all" else {"keepdims": True}
    out = run(generation, lambda lib, t: getattr(lib.language, name)(t["x"], axis, **kw), {"x": x})
    kept = np.zeros(x.shape).sum(axis=axis, keepdims=True).shape
    check(generation, name, out.reshape(kept), 1e-5, 1e-5, x=x, axis=axis)


def both(name: str) -> list[str]:
    return [g for g in ("new", "old") if (g, name) in ENTRIES]


def cases(*names: str) -> Any:
    return pytest.mark.parametrize(("generation", "name"), [(g, n) for n in names for g in both(n)])


@cases("affine_range", "sequential_range", "static_range", "dynamic_range")
def test_ranges(generation: str, name: str) -> None:
    seen: list[int] = []

    def body(lib: Any, t: Any) -> Any:
        seen.extend(int(i) for i in getattr(lib.language, name)(2, 11, 3))
        seen.extend(int(i) for i in getattr(lib.language, name)(2))
        return t["x"]

    run(generation, body, {"x": random(4, 4)})
    formula = ENTRIES[generation, name].formula
    assert seen == [*list(eval(formula, {"start": 2, "stop": 11, "step": 3})), 0, 1]


def test_fori_loop() -> None:
    x = random(1, 1)

    def body(lib: Any, t: Any) -> Any:
        def step(i: Any) -> None:
            lib.isa.tensor_scalar(dst=t["x"], data=t["x"], op0=lib.language.add, operand0=float(i))

        lib.language.fori_loop(1, lib.isa.register_alloc(8), step, 2)
        return t["x"]

    check("new", "fori_loop", run("new", body, {"x": x}), x=x, lower=1, upper=8, step=2)


def test_while_loop() -> None:
    x = random(1, 1)

    def body(lib: Any, t: Any) -> Any:
        def step(register: Any) -> Any:
            lib.isa.tensor_scalar(dst=t["x"], data=t["x"], op0=lib.language.add, operand0=float(register))
            return lib.isa.register_alloc(register - 1)

        lib.language.while_loop(lib.isa.register_alloc(4), step)
        return t["x"]

    check("new", "while_loop", run("new", body, {"x": x}), x=x, init=4)


@cases("broadcast_to")
def test_broadcast_to(generation: str, name: str) -> None:
    x = random(128, 1)
    out = run(generation, lambda lib, t: lib.language.broadcast_to(t["x"], shape=(128, 9)), {"x": x})
    check(generation, name, out, x=x, shape=(128, 9))


@cases("device_print")
def test_device_print(generation: str, name: str, capsys: Any) -> None:
    x = np.full((2, 2), 7, np.float32)

    def body(lib: Any, t: Any) -> Any:
        lib.language.device_print("here", t["x"])
        return t["x"]

    check(generation, name, run(generation, body, {"x": x}), x=x)
    assert capsys.readouterr().out == "here [[7. 7.]\n [7. 7.]]\n"


@cases("dropout")
def test_dropout(generation: str, name: str) -> None:
    x = np.ones((128, 2000), np.float32)
    out = run(generation, lambda lib, t: lib.language.dropout(t["x"], 0.25), {"x": x})
    assert set(np.unique(out)) == {0.0, 1.0}
    assert abs((out == 0).mean() - 0.25) < 0.01
    assert ENTRIES[generation, name].formula == "distribution"


@cases("rand")
def test_rand(generation: str, name: str) -> None:
    out = run(generation, lambda lib, t: lib.language.rand((128, 2000), np.float32), {"x": random(1, 1)})
    assert out.min() >= 0 and out.max() < 1
    assert abs(out.mean() - 0.5) < 0.01 and abs(out.var() - 1 / 12) < 0.005
    assert ENTRIES[generation, name].formula == "distribution"


@cases("random_seed")
def test_random_seed(generation: str, name: str) -> None:
    def body(lib: Any, t: Any) -> Any:
        lib.language.random_seed(t["x"])
        first = lib.language.rand((4, 4), np.float32)
        lib.language.random_seed(t["x"])
        return t["x"], first, lib.language.rand((4, 4), np.float32)

    x = np.full((1, 1), 3, np.int32)
    same, first, second = run(generation, body, {"x": x})
    check(generation, name, same, x=x)
    np.testing.assert_array_equal(first, second)


@cases("ds")
def test_ds(generation: str, name: str) -> None:
    x = random(8, 16)
    out = run(generation, lambda lib, t: lib.language.copy(t["x"][:, lib.language.ds(3, 5)]), {"x": x})
    check(generation, name, out, x=x, start=3, size=5)


@cases("ndarray", "empty_like", "zeros", "zeros_like", "ones", "full")
def test_allocation(generation: str, name: str) -> None:
    x = random(8, 16)
    shapes = []

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        made = {
            "ndarray": lambda: nl.ndarray((4, 6), nl.bfloat16, buffer=nl.sbuf),
            "empty_like": lambda: nl.empty_like(t["x"]),
            "zeros": lambda: nl.zeros((4, 6), nl.int32, buffer=nl.sbuf),
            "zeros_like": lambda: nl.zeros_like(t["x"]),
            "ones": lambda: nl.ones((4, 6), nl.bfloat16, buffer=nl.sbuf),
            "full": lambda: nl.full((4, 6), 2.5, nl.float32, buffer=nl.sbuf),
        }[name]()
        shapes.append((made.shape, str(made.dtype), str(made.buffer)))
        return t["x"] if name in ("ndarray", "empty_like") else made

    out = run(generation, body, {"x": x})
    if name in ("ndarray", "empty_like"):
        expected = eval(ENTRIES[generation, name].formula, {"np": np, "x": x, "shape": (4, 6)})
        assert shapes[0][0] == expected
    else:
        check(generation, name, out, x=x, shape=(4, 6), fill_value=2.5)
    assert shapes[0][2] == "sbuf"


@cases("expand_dims")
def test_expand_dims(generation: str, name: str) -> None:
    x = random(8, 16)
    out = run(generation, lambda lib, t: lib.language.copy(lib.language.expand_dims(t["x"], 1)), {"x": x})
    check(generation, name, out, x=x, axis=1)


@cases("gather_flattened")
def test_gather_flattened(generation: str, name: str) -> None:
    data, indices = random(16, 40), np.random.default_rng(1).integers(0, 40, (16, 7)).astype(np.uint32)
    out = run(
        generation, lambda lib, t: lib.language.gather_flattened(t["d"], t["i"]), {"d": data, "i": indices}
    )
    check(generation, name, out, data=data, indices=indices)


@cases("is_hbm", "is_on_chip", "is_psum", "is_sbuf")
def test_region_queries(generation: str, name: str) -> None:
    nl = __import__("sim_harness").NEW.language
    for region in (nl.sbuf, nl.psum, nl.hbm, nl.private_hbm, nl.shared_hbm):
        expected = eval(ENTRIES[generation, name].formula, {"buffer": str(region)})
        assert getattr(nl, name)(region) is expected


@cases("load", "store", "load_transpose2d")
def test_load_store(generation: str, name: str) -> None:
    x = random(64, 48)
    from sim_harness import LIBRARY

    lib = LIBRARY[generation]
    nl = lib.language

    def kernel(src: Any) -> Any:
        tile = nl.load_transpose2d(src) if name == "load_transpose2d" else nl.load(src)
        out = nl.ndarray(tile.shape, src.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    check(generation, name, lib.jit(kernel)(x), src=x, value=x)


@cases("matmul")
@pytest.mark.parametrize("transposed", [False, True])
def test_matmul(generation: str, name: str, transposed: bool) -> None:
    x, y = random(96, 64), random(64, 200)
    given = np.ascontiguousarray(x.T) if transposed else x
    out = run(
        generation, lambda lib, t: lib.language.matmul(t["x"], t["y"], transpose_x=transposed), {"x": given, "y": y}
    )
    check(generation, name, out, 1e-4, 1e-4, x=x, y=y)


@cases("transpose")
def test_transpose(generation: str, name: str) -> None:
    x = random(96, 64)
    check(generation, name, run(generation, lambda lib, t: lib.language.transpose(t["x"]), {"x": x}), x=x)


@cases("no_reorder")
def test_no_reorder(generation: str, name: str) -> None:
    x = random(4, 4)

    def body(lib: Any, t: Any) -> Any:
        with lib.language.no_reorder():
            return lib.language.copy(t["x"])

    check(generation, name, run(generation, body, {"x": x}), x=x)


@cases("program_id", "num_programs", "program_ndim")
def test_programs(generation: str, name: str) -> None:
    from sim_harness import LIBRARY

    lib = LIBRARY[generation]
    nl = lib.language

    def kernel(x: Any) -> Any:
        out = nl.ndarray((2, 1), np.float32, buffer=nl.shared_hbm)
        value = {
            "program_id": lambda: nl.program_id(0), "num_programs": lambda: nl.num_programs(0),
            "program_ndim": nl.program_ndim,
        }[name]()  # fmt: skip
        me = nl.program_id(0)
        nl.store(out[me : me + 1, :], nl.full((1, 1), float(value), np.float32, buffer=nl.sbuf))
        return out

    out = lib.jit(kernel)[2](random(1, 1))
    expected = eval(ENTRIES[generation, name].formula, {"np": np, "grid": (2,)})
    np.testing.assert_array_equal(out[:, 0], np.broadcast_to(expected, 2))


@cases("rms_norm")
def test_rms_norm(generation: str, name: str) -> None:
    x, w = random(64, 48), random(1, 48)
    out = run(
        generation, lambda lib, t: lib.language.rms_norm(t["x"], t["w"], 1, 48, epsilon=1e-3), {"x": x, "w": w}
    )
    check(generation, name, out, 1e-5, x=x, w=w, n=48, epsilon=1e-3)


@cases("softmax")
def test_softmax(generation: str, name: str) -> None:
    x = random(64, 48)
    check(generation, name, run(generation, lambda lib, t: lib.language.softmax(t["x"], axis=1), {"x": x}), 1e-5, x=x)


@cases("where")
def test_where(generation: str, name: str) -> None:
    x, y = random(64, 48), random(64, 48, seed=3)
    condition = (x > y).astype(np.uint8)
    out = run(
        generation, lambda lib, t: lib.language.where(t["c"], t["x"], t["y"]), {"c": condition, "x": x, "y": y}
    )
    check(generation, name, out, condition=condition.astype(bool), x=x, y=y)


@cases("shared_constant", "shared_identity_matrix")
def test_constants(generation: str, name: str) -> None:
    constant = random(16, 16)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        made = nl.shared_constant(constant) if name == "shared_constant" else nl.shared_identity_matrix(16)
        return nl.load(made)

    out = run(generation, body, {"x": random(1, 1)})
    assert out.dtype == (np.float32 if name == "shared_constant" else np.uint8)
    check(generation, name, out, constant=constant, n=16)


@cases("arange", "gemm_grid", "gemm_stationary_grid")
def test_index_grids(generation: str, name: str) -> None:
    x = random(128, 512)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        if name == "arange":
            return nl.copy(t["x"][nl.arange(20)[:, None], nl.arange(30)[None, :]])
        grid = getattr(nl, name)()
        return nl.copy(t["x"][grid.p, grid.x])

    check(generation, name, run(generation, body, {"x": x}), x=x, p0=20, f0=30)


@cases("atomic_rmw")
def test_atomic_rmw(generation: str, name: str) -> None:
    dst, value = random(16, 8), random(16, 8, seed=9)
    from sim_harness import OLD

    nl = OLD.language

    def kernel(dst: Any, value: Any) -> Any:
        nl.atomic_rmw(dst, nl.load(value), np.add)
        return dst

    check(generation, name, OLD.jit(kernel)(dst.copy(), value), dst=dst, value=value)


@cases("finfo")
def test_finfo(generation: str, name: str) -> None:
    from sim_harness import OLD

    assert float(OLD.language.finfo(np.float32).max) == eval(ENTRIES[generation, name].formula, {"np": np})


@cases("loop_reduce")
def test_loop_reduce(generation: str, name: str) -> None:
    x = random(16, 40)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        total = nl.ndarray((16, 10), np.float32, buffer=nl.sbuf)
        for i in nl.affine_range(4):
            total[...] = nl.loop_reduce(t["x"][:, nl.ds(i * 10, 10)], op=np.add, loop_indices=[i])
        return total

    check(generation, name, run(generation, body, {"x": x}), 1e-5, x=x)


@cases("static_cast")
def test_static_cast(generation: str, name: str) -> None:
    x = random(16, 40) * 10
    out = run(generation, lambda lib, t: lib.language.static_cast(t["x"], np.int8), {"x": x})
    assert out.dtype == np.int8
    check(generation, name, out, x=x)


def test_every_function_has_a_case() -> None:
    import inspect
    import re
    import sys

    source = inspect.getsource(sys.modules[__name__])
    named = set(re.findall(r'"(\w+)"', source)) | set(UNARY) | set(BINARY) | set(REDUCE)
    assert sorted({name for _, name in ENTRIES} - named) == []
