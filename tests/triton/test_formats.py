"""Narrow formats, bit by bit, against ml_dtypes and torch; needs no Triton."""

from __future__ import annotations

import numpy as np
import pytest
from kengine_triton.interpret.formats import FORMATS, decode, encode

ml_dtypes = pytest.importorskip("ml_dtypes")

OTHERS = {
    "bf16": "bfloat16", "fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn", "fp8e5b16": "float8_e5m2fnuz",
    "fp8e4b8": "float8_e4m3fnuz", "fp8e4b15": "",
}  # fmt: skip


def patterns(name: str) -> np.ndarray:
    form = FORMATS[name]
    return np.arange(1 << form.bits, dtype=np.int64).astype(form.carrier)


@pytest.mark.parametrize("name", [n for n, other in OTHERS.items() if other])
def test_every_pattern_decodes(name: str) -> None:
    bits = patterns(name)
    expected = bits.view(getattr(ml_dtypes, OTHERS[name])).astype(np.float32)
    np.testing.assert_array_equal(decode(bits, name), expected)


@pytest.mark.parametrize("name", OTHERS)
def test_every_value_survives(name: str) -> None:
    bits = patterns(name)
    values = decode(bits, name)
    back = encode(values, name)
    kept = ~np.isnan(values) & np.isfinite(values)
    if name == "fp8e4b15":
        kept &= (bits & 0x7F) != 0x7F
    np.testing.assert_array_equal(back[kept], bits[kept])
    assert np.isnan(decode(back[np.isnan(values)], name)).all()


@pytest.mark.parametrize("name", [n for n, other in OTHERS.items() if other])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounds_to_nearest_even(name: str, dtype: type) -> None:
    values = decode(patterns(name), name)
    values = np.unique(values[np.isfinite(values)]).astype(np.float64)
    low, high = values[:-1], values[1:]
    between = (low + high) / 2
    is_even = (encode(low.astype(np.float32), name) & 1) == 0
    step = {np.float32: np.float32, np.float64: np.float64}[dtype]
    above = np.nextafter(between.astype(step), step(np.inf))
    below = np.nextafter(between.astype(step), step(-np.inf))
    # Ties of bfloat16's smallest subnormals are not float32 values.
    exact = between.astype(step).astype(np.float64) == between
    for inputs, expected in ((above, high), (below, low), (between.astype(step), np.where(is_even, low, high))):
        np.testing.assert_array_equal(decode(encode(inputs, name), name)[exact], expected[exact])


def test_range_ends() -> None:
    big = np.array([1e6, -1e6, np.inf, -np.inf], np.float32)
    assert decode(encode(big, "fp8e4nv"), "fp8e4nv").tolist() == [448, -448, 448, -448]
    assert decode(encode(big, "fp8e5"), "fp8e5").tolist() == [57344, -57344, 57344, -57344]
    assert decode(encode(big, "fp8e4b8"), "fp8e4b8").tolist() == [240, -240, 240, -240]
    assert decode(encode(np.array([3.4e38, np.inf, -np.inf], np.float32), "bf16"), "bf16").tolist() == [
        np.inf, np.inf, -np.inf,
    ]  # fmt: skip
    assert np.isnan(decode(encode(np.array([np.nan], np.float32), "bf16"), "bf16")).all()
    assert encode(np.array([-0.0, 0.0], np.float32), "fp8e4b8").tolist() == [0, 0]
    assert encode(np.array([-0.0, 0.0], np.float32), "fp8e4nv").tolist() == [0x80, 0]


def test_toward_zero_never_grows() -> None:
    values = np.linspace(-500, 500, 10007).astype(np.float32)
    for name in ("bf16", "fp8e5", "fp8e4nv"):
        cut = decode(encode(values, name, toward_zero=True), name)
        assert (np.abs(cut) <= np.abs(values)).all()
        nearest = decode(encode(values, name), name)
        assert (cut != nearest).any()
    assert encode(np.array([1e9], np.float64), "fp16", toward_zero=True).tolist() == [0x7BFF]


def test_float64_is_rounded_once() -> None:
    # Through float32 this lands on the tie and goes to even.
    value = 1 + 2**-8 + 2**-40
    assert decode(encode(np.array([value]), "bf16"), "bf16").tolist() == [1 + 2**-7]
