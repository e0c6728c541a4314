"""Poison, the written map, strict mode, PSUM accumulation and capacities."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kengine_nki.sim import NkiError, Options, load, session
from kengine_nki.sim.capacity import peak
from sim_harness import NEW, OLD, random, run

HEADER = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n"


def kernel(body: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    """Run a new-generation kernel body over x; returns (result, session)."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    module = load(f"{HEADER}\n@nki.jit\ndef kernel(x):\n{lines}\n", "memory.py")
    with session(Options(**options)) as opened:
        return module.kernel(*(args or (random(8, 8),))), opened


def test_unwritten_float_memory_is_nan_everywhere() -> None:
    out, opened = kernel("""
t = nl.ndarray((8, 8), nl.float32, buffer=nl.sbuf)
nisa.tensor_copy(dst=t[:, 0:4], src=nl.load(x)[:, 0:4])
out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0)
nl.store(out, t)
return out""")
    np.testing.assert_array_equal(out[:, :4], random(8, 8)[:, :4] * 2)
    assert np.isnan(out[:, 4:]).all()
    assert opened.warnings == []


def test_partly_written_float_output_is_nan_and_warned_of() -> None:
    out, opened = kernel("""
out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
nl.store(out[0:5, :], nl.load(x[0:5, :]))
return out""")
    assert np.isnan(out[5:]).all() and not np.isnan(out[:5]).any()
    assert ["is not fully written" in w.message for w in opened.warnings] == [True]


POISONED_INTS = {
    "copied": "nisa.tensor_copy(dst=b, src=a)",
    "computed in integers": "nisa.tensor_tensor(dst=b, data1=a, data2=a, op=nl.add)",
    "computed in float32": "nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=1.0)",
    "shifted": "nisa.tensor_scalar(dst=b, data=a, op0=nl.left_shift, operand0=1)",
    "reduced": "nisa.tensor_reduce(dst=b[:, 0:1], data=a, op=nl.add, axis=1)\nnisa.memset(dst=b[:, 1:8], value=0)",
    "transferred": "nisa.dma_copy(dst=b, src=a)",
    "transposed": "p = nl.ndarray((8, 8), nl.int32, buffer=nl.psum)\nnisa.nc_transpose(dst=p, data=a)\n"
                  "nisa.tensor_copy(dst=b, src=p)",
    "shuffled": "nisa.nc_stream_shuffle(dst=b, src=a, shuffle_mask=[i % 8 for i in range(32)])",
    "viewed": "f = nl.ndarray((8, 8), nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=b, src=f.view(nl.int32))",
}  # fmt: skip


@pytest.mark.parametrize("how", POISONED_INTS)
def test_integers_never_written_reach_no_output(how: str) -> None:
    body = f"""
a = nl.ndarray((8, 8), nl.int32, buffer=nl.sbuf)
nisa.memset(dst=a[:, 0:7], value=3)
b = nl.ndarray((8, 8), nl.int32, buffer=nl.sbuf)
{POISONED_INTS[how]}
out = nl.ndarray((8, 8), nl.int32, buffer=nl.shared_hbm)
nl.store(out, b)
return out"""
    with pytest.raises(NkiError, match="not fully written"):
        kernel(body)
    if how != "viewed":
        out, _ = kernel(body.replace("a[:, 0:7]", "a"))
        assert out.shape == (8, 8)


def test_integers_written_only_later_are_fine() -> None:
    out, _ = kernel("""
a = nl.ndarray((8, 8), nl.int32, buffer=nl.sbuf)
b = nl.ndarray((8, 8), nl.int32, buffer=nl.sbuf)
nisa.memset(dst=a[:, 0:7], value=3)
nisa.tensor_copy(dst=b, src=a)
nisa.memset(dst=b[:, 7:8], value=9)
out = nl.ndarray((8, 8), nl.int32, buffer=nl.shared_hbm)
nl.store(out, b)
return out""")
    assert (out[:, :7] == 3).all() and (out[:, 7] == 9).all()


STRICT = """
t = nl.ndarray((8, 8), nl.float32, buffer=nl.sbuf)
nisa.memset(dst=t[:, 0:4], value=1.0)
u = nl.ndarray((8, 8), nl.float32, buffer=nl.sbuf)
nisa.tensor_copy(dst=u, src=t)
out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
nl.store(out, nl.load(x))
return out"""


def test_strict_raises_on_any_read() -> None:
    kernel(STRICT)
    with pytest.raises(NkiError, match="read of uninitialized sbuf memory: tensor `unnamed` of shape") as caught:
        kernel(STRICT, strict=True)
    assert caught.value.text == "nisa.tensor_copy(dst=u, src=t)"
    kernel(STRICT.replace("t[:, 0:4]", "t"), strict=True)


MATMUL = """
s = nl.load(x)
acc = nl.ndarray((8, 8), nl.float32, buffer=nl.psum)
{before}
nisa.nc_matmul(dst=acc, stationary=s, moving=s{first})
{between}
nisa.nc_matmul(dst=acc, stationary=s, moving=s{second})
out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
nl.store(out, nl.copy(acc))
return out"""
PRODUCT = random(8, 8).T.astype(np.float64) @ random(8, 8)


@pytest.mark.parametrize(
    ("second", "times"), [("", 2), (", accumulate=True", 2), (", accumulate=False", 1), (", accumulate=None", 2)]
)
def test_accumulation(second: str, times: int) -> None:
    out, opened = kernel(MATMUL.format(before="", first="", between="", second=second))
    np.testing.assert_allclose(out, PRODUCT * times, rtol=1e-5, atol=1e-5)
    assert opened.warnings == []


def test_accumulation_goes_by_element() -> None:
    """Half of the tile holds a product already, the other half nothing."""
    body = MATMUL.format(before="nisa.nc_matmul(dst=acc[:, 0:4], stationary=s, moving=s[:, 0:4])", first="", between="",
                         second=", accumulate=False").replace(", accumulate=False", "", 1)  # fmt: skip
    out, _ = kernel(body)
    want = np.concatenate([PRODUCT[:, :4] * 3, PRODUCT[:, 4:] * 2], axis=1)
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)


def test_accumulate_true_on_fresh_psum_is_poison() -> None:
    out, opened = kernel(MATMUL.format(before="", first=", accumulate=True", between="", second=", accumulate=True"))
    assert np.isnan(out).all()
    assert "accumulate=True on PSUM never written" in opened.warnings[0].message


@pytest.mark.parametrize(("chip", "value", "result"), [("trn2", 0.0, PRODUCT * 2), ("trn2", 5.0, None),
                                                       ("trn3", 5.0, PRODUCT * 2 + 5)])  # fmt: skip
def test_accumulation_onto_memset_psum(chip: str, value: float, result: Any) -> None:
    body = MATMUL.format(before=f"nisa.memset(dst=acc, value={value})", first="", between="", second="")
    out, opened = kernel(body, chip=chip)
    if result is None:
        assert np.isnan(out).all()
    else:
        np.testing.assert_allclose(out, result, rtol=1e-5, atol=1e-5)
    assert ["accumulates onto PSUM" in w.message for w in opened.warnings] == ([True] if chip == "trn2" else [])


def test_old_generation_accumulates_into_zeroed_psum() -> None:
    def body(lib: Any, t: Any) -> Any:
        acc = lib.language.zeros((8, 8), np.float32, buffer=lib.language.psum)
        for _ in range(3):
            acc[...] += lib.isa.nc_matmul(t["x"], t["x"])
        return lib.language.copy(acc)

    np.testing.assert_allclose(run("old", body, {"x": random(8, 8)}), PRODUCT * 3, rtol=1e-5, atol=1e-5)


def test_matmul_must_stay_in_one_bank() -> None:
    body = """
s = nl.load(x)
acc = nl.ndarray((8, 1024), nl.float32, buffer=nl.psum)
nisa.nc_matmul(dst=acc[:, {start}:{start} + 8], stationary=s, moving=s)
out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
nl.store(out, nl.copy(acc[:, {start}:{start} + 8]))
return out"""
    np.testing.assert_allclose(kernel(body.format(start=512))[0], PRODUCT, rtol=1e-5, atol=1e-5)
    with pytest.raises(NkiError, match="spans more than one PSUM bank of 2048 bytes"):
        kernel(body.format(start=508))
    kernel(body.format(start=508), chip="trn3")


LIVE = """
tiles = []
for i in range({count}):
    t = nl.ndarray((8, 16384), nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=t, value=float(i))
    {use}
out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
for t in tiles:
    nl.store(out, t[:, 0:8])
nl.store(out, nl.load(x))
return out"""


def test_sbuf_capacity_counts_what_is_live_together() -> None:
    """64 KiB tiles: four at a time exceed 224 KiB of trn2, but not 256 KiB of trn3; dead ones do not count."""
    with pytest.raises(NkiError, match=r"sbuf capacity exceeded: 4 tiles .* need 262144 .* 229376 of trn2") as caught:
        kernel(LIVE.format(count=4, use="tiles.append(t)"))
    assert caught.value.line is not None
    _, opened = kernel(LIVE.format(count=4, use="tiles.append(t)"), chip="trn3")
    assert opened.stats.sbuf_peak_bytes == 262144
    _, opened = kernel(LIVE.format(count=9, use="pass"))
    assert opened.stats.sbuf_peak_bytes == 65536


def test_psum_capacity() -> None:
    body = """
s = nl.load(x)
banks = []
for i in range({count}):
    acc = nl.ndarray((8, 512), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc[:, 0:8], stationary=s, moving=s)
    banks.append(acc)
out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
for acc in banks:
    nl.store(out, nl.copy(acc[:, 0:8]))
return out"""
    _, opened = kernel(body.format(count=8))
    assert opened.stats.psum_peak_bytes == 16384
    with pytest.raises(NkiError, match="psum capacity exceeded: 9 tiles"):
        kernel(body.format(count=9))


def test_peak() -> None:
    assert peak([]) == (0, 0)
    assert peak([(1, 3, 10), (3, 5, 20), (4, 9, 5)]) == (30, 3)


CASTS = {
    "int8": ([0.5, 1.5, 2.5, -0.5, -1.5, 127.6, 300.0, -300.0, np.inf], [0, 2, 2, 0, -2, 127, 127, -128, 127]),
    "uint8": ([0.5, -3.0, 255.4, 256.0, 1e9], [0, 0, 255, 255, 255]),
    "int32": ([2**31, -(2**31) - 1024.0, 1e20, 16777217.0], [2**31 - 1, -(2**31), 2**31 - 1, 16777216]),
    "uint32": ([2**32, 5.5, -1.0], [2**32 - 1, 6, 0]),
}


@pytest.mark.parametrize("dtype", CASTS)
@pytest.mark.parametrize("generation", ["new", "old"])
def test_float_to_integer_rounds_to_even_and_saturates(dtype: str, generation: str) -> None:
    given, wanted = CASTS[dtype]
    x = np.array([given], np.float32)
    out = run(generation, lambda lib, t: lib.language.copy(t["x"], dtype=getattr(lib.language, dtype)), {"x": x})
    assert out.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(out[0].astype(np.int64), wanted)


def test_small_floats_round_to_even() -> None:
    x = np.array([[1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-4, 1 + 3 * 2**-4]], np.float32)
    kinds = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16, "float8_e4m3": ml_dtypes.float8_e4m3}
    for name, kind in kinds.items():
        out = run("new", lambda lib, t, n=name: lib.language.copy(t["x"], dtype=getattr(lib.language, n)), {"x": x})
        np.testing.assert_array_equal(out.astype(np.float32), x.astype(kind).astype(np.float32))


def test_tfloat32_keeps_ten_mantissa_bits() -> None:
    x = np.array([[1 + 2**-10, 1 + 2**-11, 1 + 3 * 2**-11, -(1 + 2**-11 + 2**-20), np.inf, 3.0e38]], np.float32)

    def body(lib: Any, t: Any) -> Any:
        return lib.language.copy(lib.language.copy(t["x"], dtype=lib.language.tfloat32), dtype=lib.language.float32)

    out = run("new", body, {"x": x})[0]
    np.testing.assert_array_equal(out[:5], np.array([1 + 2**-10, 1, 1 + 2**-9, -(1 + 2**-10), np.inf], np.float32))
    assert abs(out[5] / 3.0e38 - 1) < 2**-11


def test_different_types_pass_through_float32_but_equal_types_do_not() -> None:
    x = np.array([[2**24 + 1, -(2**24) - 1]], np.int32)
    same = run("new", lambda lib, t: lib.language.copy(t["x"]), {"x": x})
    np.testing.assert_array_equal(same, x)
    other = run("new", lambda lib, t: lib.language.copy(t["x"], dtype=lib.language.uint32), {"x": x})
    np.testing.assert_array_equal(other, [[2**24, 0]])


def test_integer_add_in_psum_is_float32_maths() -> None:
    x = np.array([[2**24 + 1, 5]], np.int32)

    def body(lib: Any, t: Any) -> Any:
        out = lib.language.ndarray((1, 2), np.int32, buffer=lib.language.sbuf)
        lib.isa.tensor_tensor(dst=out, data1=t["x"], data2=t["y"], op=lib.language.add)
        return out

    zero = np.zeros((1, 2), np.int32)
    np.testing.assert_array_equal(run("new", body, {"x": x, "y": zero}), x)
    np.testing.assert_array_equal(run("new", body, {"x": x, "y": zero}, psum=("y",)), [[2**24, 5]])


def test_inputs_written_by_the_kernel_are_updated_in_place() -> None:
    body = "nl.store(x, nl.add(nl.load(x), 1.0))\nreturn x"
    for array in (np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32).T, np.zeros((8, 16), np.float32)[:, ::2]):
        out, _ = kernel(body, array)
        np.testing.assert_array_equal(array, 1.0)
        np.testing.assert_array_equal(out, 1.0)
    frozen = np.zeros((8, 8), np.float32)
    frozen.setflags(write=False)
    assert kernel(body, frozen)[0].sum() == 64
    assert frozen.sum() == 0


def test_immutable_parameter_of_the_old_generation() -> None:
    source = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt

@nki.jit
def kernel(x: nt.{kind}):
    nl.store(x, nl.load(x) + 1)
    return x
"""
    with session():
        out = load(source.format(kind="mutable_tensor"), "m.py").kernel(np.zeros((4, 4), np.float32))
        assert (out == 1).all()
        with pytest.raises(NkiError, match="Cannot update immutable parameter `x`"):
            load(source.format(kind="tensor"), "i.py").kernel(np.zeros((4, 4), np.float32))


def test_activation_outside_of_its_valid_range_warns() -> None:
    x = np.array([[0.5, 9.0]], np.float32)

    def body(op: str) -> Any:
        def inner(lib: Any, t: Any) -> Any:
            out = lib.language.ndarray((1, 2), np.float32, buffer=lib.language.sbuf)
            lib.isa.activation(dst=out, op=getattr(lib.language, op), data=t["x"])
            return out

        return inner

    out = run("new", body("sin"), {"x": x})
    np.testing.assert_allclose(out[0, 0], np.sin(0.5), rtol=1e-6)
    assert np.isnan(out[0, 1])
    assert not np.isnan(run("new", body("exp"), {"x": x})).any()
    assert NEW is not OLD
