"""Where wrong elements cluster, told in words."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.judge.diagnosis import describe_values, locate, text, unravel


def mask(shape, *places):
    bad = np.zeros(shape, bool)
    for place in places:
        bad[place] = True
    return bad


WHERE = {
    "nothing": (mask((4, 8)), ""),
    "everything": (np.ones((4, 8), bool), "every element"),
    "scalar": (np.ones((1,), bool), "the only element"),
    "one element": (mask((4, 8), (2, 3)), "one tile: rows 2 to 2, columns 3 to 3 (1 x 1); first wrong row 2"),
    "rows": (mask((8, 8), slice(3, 5)), "whole rows: rows 3 to 4; first wrong row 3"),
    "last rows": (mask((8, 8), slice(6, None)), "whole rows: the tail, rows from 6 on (2 of 8); first wrong row 6"),
    "every second row": (mask((8, 4), slice(1, None, 2)), "whole rows: every 2th row from 1 to 7; first wrong row 1"),
    "column": (mask((8, 8), (slice(None), 5)), "in every row: column 5"),
    "tail of rows": (
        mask((4, 100), (slice(None), slice(64, None))),
        "in every row: the tail, columns from 64 on (36 of 100)",
    ),
    "tile": (
        mask((64, 64), (slice(16, 32), slice(32, 48))),
        "one tile: rows 16 to 31, columns 32 to 47 (16 x 16); first wrong row 16",
    ),
    "vector tail": (mask((1000,), slice(896, None)), "the tail, elements from 896 on (104 of 1000)"),
    "vector stride": (mask((96,), slice(3, None, 32)), "every 32th element from 3 to 67"),
    "vector one": (mask((96,), 7), "only element 7"),
    "batch row": (mask((2, 3, 4), (1, 2)), "whole rows: row 5; first wrong row [1, 2]"),
    "scattered": (
        mask((4, 4), (0, 1), (2, 2), (3, 0)),
        "scattered over 3 of 4 rows and 3 of 4 columns; first wrong row 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHERE)
def test_locate(name):
    bad, expected = WHERE[name]
    assert locate(bad) == expected


def test_telling_forms():
    generator = np.random.default_rng(0)
    y = generator.standard_normal((16, 16))
    assert (
        describe_values(np.full((4, 4), np.nan), np.ones((4, 4))) == "all of it is NaN, as if nothing had been written"
    )
    assert describe_values(np.zeros((4, 4)), np.ones((4, 4))) == "all of it is zero"
    assert describe_values(np.full((4, 4), 2.5), y[:4, :4]) == "all of it is 2.5"
    assert describe_values(y * 1.001, y) == "it is the expected answer times 1.001"
    assert describe_values(y.T.copy(), y) == "it is the expected answer transposed"
    assert describe_values(np.roll(y, 1, 0), y) == "it is the expected answer shifted by 1 along dimension 0"
    assert describe_values(np.roll(y, -1, 1), y) == "it is the expected answer shifted by -1 along dimension 1"
    assert describe_values(generator.standard_normal((16, 16)), y) == ""
    assert describe_values(np.arange(6), np.arange(6) + 1) == ""


def test_unravel_and_text():
    for flat in range(24):
        assert unravel(flat, (2, 3, 4)) == tuple(int(i) for i in np.unravel_index(flat, (2, 3, 4)))
    assert unravel(0, ()) == ()
    assert text(np.float64(0.1)) == "0.1" and text(np.float64("nan")) == "nan" and text(np.int64(7)) == "7"
