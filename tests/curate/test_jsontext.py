"""JSON by either library: the same bytes read back, and nothing that is no JSON is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine.curate import jsontext

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.fixture(params=["orjson", "json"])
def library(request, monkeypatch):
    if request.param == "json":
        monkeypatch.setattr(jsontext, "orjson", None)
    elif jsontext.orjson is None:
        pytest.skip("needs orjson: pip install 'kernel-engine[curate]'")


@given(VALUES)
def test_any_value_reads_back(value) -> None:
    assert jsontext.decode(jsontext.encode(value)) == value
    assert b"\n" not in jsontext.encode(value)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize(
    "wrap", [lambda v: v, lambda v: {"a": None, "b": v}, lambda v: [None, {"x": [v]}], lambda v: {"a": (v,)}]
)
def test_what_is_no_number_is_refused(library, bad, wrap) -> None:
    with pytest.raises(ValueError):
        jsontext.encode(wrap(bad))


def test_null_as_text_and_as_value(library) -> None:
    value = {"a": None, "b": "null", "c": [None], "d": {"e": None, "f": 1.5}}
    assert jsontext.decode(jsontext.encode(value)) == value


def test_text_that_is_no_unicode_is_kept(library) -> None:
    assert jsontext.decode(jsontext.encode({"a": "\ud800"})) == {"a": "\ud800"}


def test_what_others_wrote_is_read(library) -> None:
    assert jsontext.decode(b'{"a": NaN}')["a"] != jsontext.decode(b'{"a": NaN}')["a"]
    assert jsontext.decode(b'{"a": 123456789012345678901234567890}') is not None
    for text in (b"{", b"", b"\xff", b'{"a": 1} x'):
        with pytest.raises(ValueError):
            jsontext.decode(text)
