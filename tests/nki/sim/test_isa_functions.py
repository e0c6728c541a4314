"""Each instruction of nki.isa, in both generations, against its formula."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kengine_nki.sim.coverage import coverage
from sim_harness import LIBRARY, NEW, OLD, random, run
from sim_references import mx_matmul, mx_quantize, scan, segment_bounds

ENTRIES = {(e.generation, e.name): e for e in coverage() if e.module == "isa" and e.supported}
P = np.arange(128)[:, None]


def check(generation: str, name: str, actual: Any, rtol: float = 2e-6, atol: float = 1e-6, **names: Any) -> None:
    """Compare one output, or a tuple of them, with the entry's own formula, evaluated in float64."""
    wide = {k: v.astype(np.float64) if getattr(v, "dtype", None) == np.float32 else v for k, v in names.items()}
    helpers = {"np": np, "scan": scan, "segment_bounds": segment_bounds, "mx_quantize": mx_quantize,
               "mx_matmul": mx_matmul}  # fmt: skip
    expected = eval(ENTRIES[generation, name].formula, {**helpers, **wide})
    several = isinstance(expected, tuple)
    for got, want in zip(actual if several else [actual], expected if several else [expected]):
        assert np.asarray(got).size == np.asarray(want).size
        want = np.asarray(want, np.float64).reshape(np.shape(got))
        np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=rtol, atol=atol)


def cases(*names: str) -> Any:
    return pytest.mark.parametrize(
        ("generation", "name"), [(g, n) for n in names for g in ("new", "old") if (g, n) in ENTRIES]
    )


def call(lib: Any, name: str, like: Any, *, shape: Any = None, dtype: Any = None, psum: bool = False, **kw: Any) -> Any:
    """Call an instruction that fills one tile: `dst=` in the new generation, returned in the old one."""
    function = getattr(lib.isa, name)
    if lib is OLD:
        return function(**kw)
    nl = lib.language
    dst = nl.ndarray(like.shape if shape is None else shape, dtype=like.dtype if dtype is None else dtype,
                     buffer=nl.psum if psum else nl.sbuf)  # fmt: skip
    function(dst=dst, **kw)
    return dst


def column(lib: Any, rows: int = 128, dtype: Any = np.float32) -> Any:
    return lib.language.ndarray((rows, 1), dtype=dtype, buffer=lib.language.sbuf)


@cases("tensor_copy", "dma_copy", "tensor_copy_dynamic_src", "tensor_copy_dynamic_dst")
@pytest.mark.parametrize("dtype", [np.float32, np.int32, ml_dtypes.bfloat16, np.uint8])
def test_copies(generation: str, name: str, dtype: Any) -> None:
    src = (random(128, 33) * 50).astype(dtype)

    def body(lib: Any, t: Any) -> Any:
        if name in ("dma_copy", "tensor_copy_dynamic_dst"):
            dst = lib.language.ndarray(src.shape, dtype=t["x"].dtype, buffer=lib.language.sbuf)
            getattr(lib.isa, name)(dst=dst, src=t["x"])
            return dst
        return call(lib, name, t["x"], src=t["x"])

    out = run(generation, body, {"x": src})
    assert out.dtype == src.dtype
    check(generation, name, out, 0, 0, src=src)


@cases("memset")
@pytest.mark.parametrize(("value", "dtype"), [(2.5, np.float32), (7, np.int32), (-3, np.int8), (0, ml_dtypes.bfloat16)])
def test_memset(generation: str, name: str, value: float, dtype: Any) -> None:
    def body(lib: Any, t: Any) -> Any:
        if lib is OLD:
            return lib.isa.memset((128, 9), value, dtype)
        return call(lib, "memset", t["x"], shape=(128, 9), dtype=dtype, value=value)

    out = run(generation, body, {"x": random(1, 1)})
    assert out.dtype == dtype
    check(generation, name, out, 0, 0, shape=(128, 9), value=value)


BINARY_OPS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "equal": np.equal, "greater": np.greater, "less_equal": np.less_equal, "logical_and": np.logical_and,
    "logical_xor": np.logical_xor, "not_equal": np.not_equal, "less": np.less, "greater_equal": np.greater_equal,
    "logical_or": np.logical_or,
}  # fmt: skip


@cases("tensor_tensor")
@pytest.mark.parametrize("op", BINARY_OPS)
def test_tensor_tensor(generation: str, name: str, op: str) -> None:
    a, b = np.rint(random(128, 33) * 3), np.rint(random(128, 33, seed=2) * 3)
    out = run(
        generation,
        lambda lib, t: call(lib, name, t["a"], data1=t["a"], data2=t["b"], op=getattr(lib.language, op)),
        {"a": a, "b": b},
    )
    check(generation, name, out, data1=a, data2=b, op=BINARY_OPS[op])


@cases("tensor_tensor")
@pytest.mark.parametrize(
    ("op", "function"),
    [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor),
     ("left_shift", np.left_shift), ("add", np.add), ("multiply", np.multiply), ("subtract", np.subtract)],
)  # fmt: skip
def test_tensor_tensor_integers_are_exact(generation: str, name: str, op: str, function: Any) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(-(2**30), 2**30, (128, 9)).astype(np.int32)
    b = rng.integers(0, 2 if op in ("multiply", "left_shift") else 2**30, (128, 9)).astype(np.int32)
    out = run(
        generation,
        lambda lib, t: call(lib, name, t["a"], data1=t["a"], data2=t["b"], op=getattr(lib.language, op)),
        {"a": a, "b": b},
    )
    assert out.dtype == np.int32
    np.testing.assert_array_equal(out, function(a, b))


@cases("tensor_scalar")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("as_vector", [False, True])
def test_tensor_scalar(generation: str, name: str, reverse: bool, as_vector: bool) -> None:
    data, operand = random(128, 33), random(128, 1)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        return call(
            lib, name, t["d"], data=t["d"], op0=nl.subtract, operand0=t["v"] if as_vector else 1.5, reverse0=reverse,
            op1=nl.multiply, operand1=-0.5,
        )  # fmt: skip

    def first(x: Any, y: Any) -> Any:
        return y - x if reverse else x - y

    out = run(generation, body, {"d": data, "v": operand})
    check(
        generation, name, out, data=data, op0=first, operand0=operand if as_vector else 1.5, op1=np.multiply,
        operand1=-0.5,
    )  # fmt: skip


@cases("tensor_scalar")
@pytest.mark.parametrize(("op", "function"), [("rsqrt", lambda x, _: 1 / np.sqrt(x)), ("abs", lambda x, _: np.abs(x))])
def test_tensor_scalar_unary_operators(generation: str, name: str, op: str, function: Any) -> None:
    data = np.abs(random(64, 10)) + np.float32(0.1)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        return call(lib, name, t["d"], data=t["d"], op0=nl.add, operand0=1.0, op1=getattr(nl, op), operand1=0.0)

    out = run(generation, body, {"d": data})
    check(generation, name, out, data=data, op0=np.add, operand0=1.0, op1=function, operand1=0.0)


@cases("tensor_scalar")
def test_tensor_scalar_bit_operators(generation: str, name: str) -> None:
    data = np.arange(128 * 4, dtype=np.int32).reshape(128, 4)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        return call(lib, name, t["d"], data=t["d"], op0=nl.right_shift, operand0=2, op1=nl.bitwise_and, operand1=7)

    out = run(generation, body, {"d": data})
    check(generation, name, out, 0, 0, data=data, op0=np.right_shift, operand0=2, op1=np.bitwise_and, operand1=7)


@cases("scalar_tensor_tensor")
def test_scalar_tensor_tensor(generation: str, name: str) -> None:
    data, operand0, operand1 = random(128, 33), random(128, 1), random(128, 33, seed=4)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        return call(
            lib, name, t["d"], data=t["d"], op0=nl.multiply, operand0=t["v"], op1=nl.subtract, operand1=t["w"],
            reverse1=True,
        )  # fmt: skip

    out = run(generation, body, {"d": data, "v": operand0, "w": operand1})
    check(
        generation, name, out, data=data, op0=np.multiply, operand0=operand0, op1=lambda x, y: y - x, operand1=operand1
    )


@cases("reciprocal")
def test_reciprocal(generation: str, name: str) -> None:
    data = np.abs(random(128, 33)) + np.float32(0.1)
    out = run(generation, lambda lib, t: call(lib, name, t["d"], data=t["d"]), {"d": data})
    check(generation, name, out, data=data)


@cases("activation")
@pytest.mark.parametrize(
    ("op", "function"), [("exp", np.exp), ("tanh", np.tanh), ("copy", lambda x: x), ("square", np.square)]
)
@pytest.mark.parametrize("as_vector", [False, True])
def test_activation(generation: str, name: str, op: str, function: Any, as_vector: bool) -> None:
    data, scale, bias = random(128, 33), random(128, 1), random(128, 1, seed=3)

    def body(lib: Any, t: Any) -> Any:
        return call(
            lib, name, t["d"], op=getattr(lib.language, op), data=t["d"], bias=t["b"],
            scale=t["s"] if as_vector else 0.5,
        )  # fmt: skip

    out = run(generation, body, {"d": data, "s": scale, "b": bias})
    check(generation, name, out, 1e-5, data=data, op=function, scale=scale if as_vector else 0.5, bias=bias)


@cases("activation_reduce")
def test_activation_reduce(generation: str, name: str) -> None:
    data = random(128, 33)

    def body(lib: Any, t: Any) -> Any:
        nl, total = lib.language, column(lib)
        out = call(lib, name, t["d"], op=nl.square, data=t["d"], reduce_op=nl.add, reduce_res=total, scale=2.0)
        return out, total

    out = run(generation, body, {"d": data})
    check(generation, name, out, 1e-5, data=data, op=np.square, scale=2.0, bias=0.0)


def test_activate2() -> None:
    data = random(128, 33)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        return call(lib, "activate2", t["d"], op=nl.exp, data=t["d"], imm0=0.5, imm1=0.25, op0=nl.multiply, op1=nl.add)

    out = run("new", body, {"d": data}, "trn3")
    check("new", "activate2", out, 1e-5, data=data, op=np.exp, op0=np.multiply, imm0=0.5, op1=np.add, imm1=0.25)


def test_exponential() -> None:
    src = random(128, 33)
    top = src.max(1, keepdims=True)

    def body(lib: Any, t: Any) -> Any:
        total = column(lib)
        out = call(lib, "exponential", t["d"], src=t["d"], max_value=t["m"], reduce_res=total,
                   reduce_cmd=lib.isa.reduce_cmd.reset_reduce)  # fmt: skip
        return out, total

    check("new", "exponential", run("new", body, {"d": src, "m": top}, "trn3"), 1e-5, src=src, max_value=top)


@cases("nc_matmul")
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_nc_matmul(generation: str, name: str, dtype: Any) -> None:
    s, m = random(96, 64).astype(dtype), random(96, 300).astype(dtype)

    def body(lib: Any, t: Any) -> Any:
        out = call(lib, name, t["m"], shape=(64, 300), dtype=np.float32, psum=True, stationary=t["s"], moving=t["m"])
        return lib.language.copy(out)

    out = run(generation, body, {"s": s, "m": m})
    assert out.dtype == np.float32
    check(generation, name, out, 1e-4, 1e-4, stationary=s.astype(np.float64), moving=m.astype(np.float64))


@cases("nc_transpose")
@pytest.mark.parametrize(("shape", "dtype"), [((128, 60), np.float32), ((20, 9), ml_dtypes.bfloat16)])
def test_nc_transpose(generation: str, name: str, shape: tuple[int, int], dtype: Any) -> None:
    data = random(*shape).astype(dtype)

    def body(lib: Any, t: Any) -> Any:
        return lib.language.copy(call(lib, name, t["d"], shape=shape[::-1], psum=True, data=t["d"]))

    out = run(generation, body, {"d": data})
    assert out.dtype == dtype
    check(generation, name, out, 0, 0, data=data)


@cases("dma_transpose")
@pytest.mark.parametrize("axes", [(1, 0), (2, 1, 0), (3, 1, 2, 0)])
def test_dma_transpose(generation: str, name: str, axes: tuple[int, ...]) -> None:
    src = random(*(8, 4, 6, 16)[: len(axes)])
    shape = np.transpose(src, axes).shape
    out = run(
        generation, lambda lib, t: call(lib, name, t["d"], shape=shape, src=t["d"], axes=axes), {"d": src}
    )
    check(generation, name, out, 0, 0, src=src, axes=axes)


def test_dma_compute() -> None:
    a, b = random(128, 33), random(128, 33, seed=8)

    def body(lib: Any, t: Any) -> Any:
        return call(
            lib, "dma_compute", t["a"], srcs=[t["a"], t["b"]], reduce_op=lib.language.add, scales=[1.0, -2.0]
        )

    check("new", "dma_compute", run("new", body, {"a": a, "b": b}), srcs=[a, b], scales=[1.0, -2.0])


@cases("tensor_reduce")
@pytest.mark.parametrize(("op", "function"), [("add", np.add), ("maximum", np.maximum), ("minimum", np.minimum),
                                              ("multiply", np.multiply)])  # fmt: skip
def test_tensor_reduce(generation: str, name: str, op: str, function: Any) -> None:
    data = random(128, 33)

    def body(lib: Any, t: Any) -> Any:
        return call(
            lib, name, t["d"], shape=(128, 1), op=getattr(lib.language, op), data=t["d"], axis=1, keepdims=True
        )

    check(generation, name, run(generation, body, {"d": data}), 1e-5, 1e-5, op=function, data=data)


@cases("tensor_reduce")
def test_tensor_reduce_trailing_axes_and_negate(generation: str, name: str) -> None:
    data = random(64, 3, 4, 5)

    def body(lib: Any, t: Any) -> Any:
        return call(lib, name, t["d"], shape=(64, 3), op=lib.language.add, data=t["d"], axis=[2, 3], negate=True)

    np.testing.assert_allclose(run(generation, body, {"d": data}), -data.sum((2, 3)), rtol=1e-5, atol=1e-5)


@cases("tensor_partition_reduce")
def test_tensor_partition_reduce(generation: str, name: str) -> None:
    data = random(128, 33)

    def body(lib: Any, t: Any) -> Any:
        return call(lib, name, t["d"], shape=(1, 33), op=lib.language.add, data=t["d"])

    check(generation, name, run(generation, body, {"d": data}), 1e-5, 1e-5, op=np.add, data=data)


@cases("tensor_scalar_reduce")
def test_tensor_scalar_reduce(generation: str, name: str) -> None:
    data = random(128, 33)

    def body(lib: Any, t: Any) -> Any:
        nl, total = lib.language, column(lib)
        out = call(
            lib, name, t["d"], data=t["d"], op0=nl.multiply, operand0=2.0, reduce_op=nl.maximum, reduce_res=total
        )
        return out, total

    check(generation, name, run(generation, body, {"d": data}), data=data, op0=np.multiply, operand0=2.0,
          reduce_op=np.maximum)  # fmt: skip


SCAN_PAIRS = [("multiply", "add"), ("multiply", "subtract"), ("add", "add"), ("add", "multiply"), ("maximum", "add"),
              ("maximum", "maximum"), ("subtract", "minimum")]  # fmt: skip


@cases("tensor_tensor_scan")
@pytest.mark.parametrize(("op0", "op1"), SCAN_PAIRS)
@pytest.mark.parametrize("length", [1, 7, 200])
def test_tensor_tensor_scan(generation: str, name: str, op0: str, op1: str, length: int) -> None:
    scale = 0.9 if op1 != "multiply" else 0.1
    a, b, initial = random(64, length) * scale, random(64, length, seed=2) * scale, random(64, 1)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        return call(
            lib, name, t["a"], data0=t["a"], data1=t["b"], initial=t["i"], op0=getattr(nl, op0), op1=getattr(nl, op1)
        )

    out = run(generation, body, {"a": a, "b": b, "i": initial})
    check(
        generation, name, out, 1e-4, 1e-4, data0=a, data1=b, initial=initial, op0=BINARY_OPS[op0], op1=BINARY_OPS[op1]
    )


@pytest.mark.parametrize(("op", "function"), [("add", np.add), ("maximum", np.maximum), ("multiply", np.multiply)])
def test_tensor_scalar_cumulative(op: str, function: Any) -> None:
    src = random(64, 20)

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        return call(
            lib, "tensor_scalar_cumulative", t["d"], src=t["d"], op0=nl.multiply, op1=getattr(nl, op), imm0=0.5
        )

    out = run("new", body, {"d": src})
    check("new", "tensor_scalar_cumulative", out, 1e-5, 1e-6, src=src, op0=np.multiply, imm0=0.5, op1=function)


@cases("iota")
def test_iota(generation: str, name: str) -> None:
    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        if lib is OLD:
            return lib.isa.iota(nl.arange(128)[:, None] * 3 + nl.arange(20)[None, :], np.int32)
        return call(lib, name, t["x"], shape=(128, 20), dtype=np.int32, pattern=[[2, 20]], offset=5,
                    channel_multiplier=-7)  # fmt: skip

    out = run(generation, body, {"x": random(1, 1)})
    assert out.dtype == np.int32
    check(generation, name, out, 0, 0, p=P, i=np.arange(20)[None, :], offset=5, channel_multiplier=-7, step=2)


@cases("affine_select")
def test_affine_select(generation: str, name: str) -> None:
    tile = random(128, 128)
    i = np.arange(128)[None, :]

    def body(lib: Any, t: Any) -> Any:
        nl = lib.language
        if lib is OLD:
            pred = nl.arange(128)[:, None] >= nl.arange(128)[None, :]
            return lib.isa.affine_select(pred=pred, on_true_tile=t["x"], on_false_value=-9.0)
        return call(lib, name, t["x"], pattern=[[-1, 128]], offset=0, channel_multiplier=1, on_true_tile=t["x"],
                    on_false_value=-9.0, cmp_op=nl.greater_equal)  # fmt: skip

    check(
        generation, name, run(generation, body, {"x": tile}), 0, 0, pred=i <= P, on_true_tile=tile, on_false_value=-9.0,
        p=P, i=i, offset=0, channel_multiplier=1, step=-1, cmp_op=np.greater_equal,
    )  # fmt: skip


@cases("range_select")
def test_range_select(generation: str, name: str) -> None:
    tile = random(128, 40)
    low = np.full((128, 1), 3, np.float32)
    high = (np.arange(128, dtype=np.float32)[:, None] % 40) + 4

    def body(lib: Any, t: Any) -> Any:
        nl, top = lib.language, column(lib)
        out = call(lib, name, t["x"], on_true_tile=t["x"], comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=t["l"],
                   bound1=t["h"], reduce_res=top, reduce_op=nl.maximum, range_start=2)  # fmt: skip
        return out, top

    check(
        generation, name, run(generation, body, {"x": tile, "l": low, "h": high}), 0, 0, on_true_tile=tile, bound0=low,
        bound1=high, comp_op0=np.greater_equal, comp_op1=np.less, range_start=2, i=np.arange(40)[None, :],
    )  # fmt: skip


@cases("select_reduce")
def test_select_reduce(generation: str, name: str) -> None:
    a, v = random(128, 40), random(128, 1)
    predicate = (a > 0).astype(np.uint8)

    def body(lib: Any, t: Any) -> Any:
        nl, top = lib.language, column(lib)
        out = nl.ndarray(a.shape, dtype=np.float32, buffer=nl.sbuf)
        lib.isa.select_reduce(dst=out, predicate=t["p"], on_true=t["a"], on_false=t["v"], reduce_res=top,
                              reduce_cmd=lib.isa.reduce_cmd.reset_reduce, reduce_op=nl.maximum)  # fmt: skip
        return out, top

    out = run(generation, body, {"a": a, "v": v, "p": predicate})
    check(generation, name, out, 0, 0, predicate=predicate.astype(bool), on_true=a, on_false=v)


@cases("tensor_copy_predicated")
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_tensor_copy_predicated(generation: str, name: str, dtype: Any) -> None:
    src, dst = (random(128, 40) * 9).astype(dtype), (random(128, 40, seed=2) * 9).astype(dtype)
    predicate = (src > dst).astype(np.uint8)

    def body(lib: Any, t: Any) -> Any:
        lib.isa.tensor_copy_predicated(src=t["s"], dst=t["d"], predicate=t["p"])
        return t["d"]

    out = run(generation, body, {"s": src, "d": dst, "p": predicate})
    check(generation, name, out, 0, 0, src=src, dst=dst, predicate=predicate.astype(bool))


@cases("max8")
def test_max8(generation: str, name: str) -> None:
    src = random(128, 40)
    out = run(generation, lambda lib, t: call(lib, name, t["s"], shape=(128, 8), src=t["s"]), {"s": src})
    check(generation, name, out, 0, 0, src=src)


@cases("nc_find_index8", "nc_match_replace8")
def test_search(generation: str, name: str) -> None:
    data = random(128, 40)
    vals = np.ascontiguousarray(data[:, 3:35:4])

    def body(lib: Any, t: Any) -> Any:
        if name == "nc_find_index8":
            return call(lib, name, t["d"], shape=(128, 8), dtype=np.uint32, data=t["d"], vals=t["v"])
        places = lib.language.ndarray((128, 8), dtype=np.uint32, buffer=lib.language.sbuf)
        out = call(lib, name, t["d"], data=t["d"], vals=t["v"], imm=-1.0, dst_idx=places)
        return out, places

    out = run(generation, body, {"d": data, "v": vals})
    if name == "nc_match_replace8":
        np.testing.assert_array_equal(out[1], np.tile(np.arange(3, 35, 4), (128, 1)))
        out = out[0]
    check(generation, name, out, 0, 0, data=data, vals=vals, imm=-1.0)


def test_nc_n_gather() -> None:
    data, indices = random(128, 40), np.random.default_rng(0).integers(0, 40, (128, 9)).astype(np.uint32)
    out = run(
        "new", lambda lib, t: call(lib, "nc_n_gather", t["d"], shape=(128, 9), data=t["d"], indices=t["i"]),
        {"d": data, "i": indices},
    )  # fmt: skip
    check("new", "nc_n_gather", out, 0, 0, data=data, indices=indices)


@cases("local_gather")
def test_local_gather(generation: str, name: str) -> None:
    src, index = random(32, 40), np.random.default_rng(0).integers(0, 40, (32, 2)).astype(np.uint16)

    def body(lib: Any, t: Any) -> Any:
        return call(lib, name, t["s"], shape=(32, 32), src_buffer=t["s"], index=t["i"])

    check(generation, name, run(generation, body, {"s": src, "i": index}), 0, 0, src_buffer=src, index=index)


def test_nonzero_with_count() -> None:
    src = np.zeros((16, 8), np.float32)
    src[0, [0, 2, 3, 6, 7]] = 1.0

    def body(lib: Any, t: Any) -> Any:
        out = lib.language.zeros((16, 9), lib.language.int32, buffer=lib.language.sbuf)
        lib.isa.nonzero_with_count(dst=out, src=t["s"], index_offset=10, padding_val=-2)
        return out

    out = run("new", body, {"s": src})
    check("new", "nonzero_with_count", out[0], 0, 0, src=src, index_offset=10, padding_val=-2)
    assert (out[1:] == 0).all()


@cases("sequence_bounds")
def test_sequence_bounds(generation: str, name: str) -> None:
    ids = np.array([[1, 1, 2, 0, 0, 3, 3, 3, 5]], np.float32)
    out = run(generation, lambda lib, t: call(lib, name, t["s"], shape=(1, 2, 9), segment_ids=t["s"]), {"s": ids})
    check(generation, name, out, 0, 0, segment_ids=ids)


@cases("bn_stats", "bn_aggr")
@pytest.mark.parametrize("length", [8, 9])
def test_statistics(generation: str, name: str, length: int) -> None:
    data = random(128, length)

    def body(lib: Any, t: Any) -> Any:
        stats = call(lib, "bn_stats", t["d"], shape=(128, 6), data=t["d"])
        return stats if name == "bn_stats" else call(lib, "bn_aggr", t["d"], shape=(128, 2), data=stats)

    wide = data.astype(np.float64)
    check(
        generation, name, run(generation, body, {"d": data}), 1e-5, data=data, mean=lambda h: h.mean(1),
        count=lambda h: np.full(128, h.shape[1]), spread=lambda h: h.var(1) * h.shape[1],
    ) if name == "bn_stats" else check(
        generation, name, run(generation, body, {"d": data}), 1e-5, mean=wide.mean(1), variance=wide.var(1)
    )  # fmt: skip


@cases("nc_stream_shuffle")
def test_nc_stream_shuffle(generation: str, name: str) -> None:
    src = random(128, 5)
    order = np.random.default_rng(0).permutation(32).tolist()

    def body(lib: Any, t: Any) -> Any:
        dst = lib.language.ndarray((128, 5), dtype=np.float32, buffer=lib.language.sbuf)
        lib.isa.nc_stream_shuffle(src=t["s"], dst=dst, shuffle_mask=order)
        return dst

    check(generation, name, run(generation, body, {"s": src}), 0, 0, src=src, shuffle_mask=order)


@pytest.mark.parametrize("name", ["core_barrier", "sendrecv"])
def test_lnc_exchange(name: str) -> None:
    nl, nisa = NEW.language, NEW.isa
    x = random(2, 4, 8)

    def kernel(x: Any) -> Any:
        me = nl.program_id(0)
        out = nl.ndarray((2, 4, 8), np.float32, buffer=nl.shared_hbm)
        shared = nl.ndarray((2, 4, 8), np.float32, buffer=nl.shared_hbm)
        mine = nl.load(x[me])
        theirs = nl.ndarray((4, 8), np.float32, buffer=nl.sbuf)
        if name == "sendrecv":
            nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
        else:
            nl.store(shared[me], mine)
            nisa.core_barrier(data=shared, cores=(0, 1))
            nisa.dma_copy(dst=theirs, src=shared[1 - me])
        nl.store(out[me], theirs)
        return out

    check("new", name, NEW.jit(kernel)[2](x), 0, 0, peer=x[::-1])


@pytest.mark.parametrize("name", ["register_alloc", "register_move", "register_load", "register_store"])
def test_registers(name: str) -> None:
    src = np.array([[41]], np.int32)

    def body(lib: Any, t: Any) -> Any:
        nisa = lib.isa
        register = nisa.register_alloc(41) if name == "register_alloc" else nisa.register_alloc()
        if name == "register_move":
            nisa.register_move(dst=register, src=41)
        elif name != "register_alloc":
            nisa.register_load(dst=register, src=t["s"])
        out = lib.language.ndarray((1, 1), dtype=np.int32, buffer=lib.language.sbuf)
        nisa.register_store(dst=out, src=register)
        return out

    check("new", name, run("new", body, {"s": src}), 0, 0, src=src, x=src)


@cases("get_nc_version", "get_nc_sub_version")
def test_versions(generation: str, name: str) -> None:
    seen = []

    def body(lib: Any, t: Any) -> Any:
        seen.append(int(getattr(lib.isa, name)()))
        return t["x"]

    run(generation, body, {"x": random(1, 1)})
    assert seen == [eval(ENTRIES[generation, name].formula)]


def test_mx() -> None:
    s, m = random(64, 32).astype(ml_dtypes.bfloat16), random(64, 48).astype(ml_dtypes.bfloat16)

    def body(lib: Any, t: Any) -> Any:
        nl, nisa = lib.language, lib.isa
        pairs = []
        for name, width in (("s", 32), ("m", 48)):
            data = nl.ndarray((64, width // 4), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
            scale = nl.zeros((64, width // 4), nl.uint8, buffer=nl.sbuf)
            nisa.quantize_mx(dst=data, src=t[name], dst_scale=scale)
            pairs.append((data, scale))
        product = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul_mx(dst=product, stationary=pairs[0][0], moving=pairs[1][0], stationary_scale=pairs[0][1],
                          moving_scale=pairs[1][1])  # fmt: skip
        return nl.copy(product), pairs[0][0].view(nl.uint32), pairs[0][1]

    product, packed, scale = run("new", body, {"s": s, "m": m}, "trn3")
    wide = s.astype(np.float32)
    check("new", "nc_matmul_mx", product, 1e-5, 1e-5, stationary=wide, moving=m.astype(np.float32))
    lanes = packed.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    rows = scale[[0, 1, 2, 3, 32, 33, 34, 35]]
    check("new", "quantize_mx", (lanes, rows), 0, 0, src=wide)
    assert (np.delete(scale, [0, 1, 2, 3, 32, 33, 34, 35], 0) == 0).all()


@pytest.mark.parametrize("generation", ["new", "old"])
def test_dropout(generation: str) -> None:
    data = np.ones((128, 2000), np.float32)
    out = run(generation, lambda lib, t: call(lib, "dropout", t["d"], data=t["d"], prob=0.75), {"d": data})
    assert set(np.unique(out)) == {0.0, 1.0}
    assert abs((out == 0).mean() - 0.75) < 0.01


@pytest.mark.parametrize("name", ["rng", "rand2", "set_rng_seed", "rand_set_state"])
def test_random(name: str) -> None:
    assert ENTRIES["new", name].formula == "distribution"

    def body(lib: Any, t: Any) -> Any:
        nisa, nl = lib.isa, lib.language
        if name == "rand2":
            return call(lib, "rand2", t["s"], shape=(128, 2000), dtype=np.float32, min=-1.0, max=3.0)
        outs = []
        for _ in range(2):
            if name == "set_rng_seed":
                nisa.set_rng_seed(t["s"])
            elif name == "rand_set_state":
                state = nl.full((128, 6), 9, nl.uint32, buffer=nl.sbuf)
                nisa.rand_set_state(state)
            outs.append(call(lib, "rng", t["s"], shape=(128, 2000), dtype=np.uint16))
        return tuple(outs)

    out = run("new", body, {"s": np.array([[5]], np.uint32)}, "trn3")
    if name == "rand2":
        assert out.min() >= -1 and out.max() <= 3
        assert abs(out.mean() - 1) < 0.02 and abs(out.var() - 16 / 12) < 0.03
        return
    assert abs(out[0].astype(np.float64).mean() / 65535 - 0.5) < 0.01
    assert (out[0] == out[1]).all() == (name != "rng")


def test_every_instruction_has_a_case() -> None:
    source = inspect.getsource(sys.modules[__name__])
    named = set(re.findall(r'"(\w+)"', source))
    assert sorted({name for _, name in ENTRIES} - named) == []
    assert LIBRARY["new"] is NEW
