"""Outputs as a hostile runner describes them: `tampered` for what no runner sends, else a clear problem, no crash."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kengine.judge.structure import ArrayOut, Form, Malformed, in_order, mismatch, read_outputs
from kengine.model import TensorSpec

GOOD = {
    "k": "array",
    "spec": {"dtype": "float32", "shape": [4, 6], "strides": [6, 1]},
    "type": "torch.Tensor",
    "device": "cpu",
    "alias": "",
    "sink": 0,
}
PLUS_ONE = """
import torch
def make_inputs(seed, device):
    return [torch.rand(4, 6)]
def reference(x):
    return x + 1
"""
WANT = [Form(TensorSpec("float32", (4, 6)), True, "cpu")]


def changed(**fields):
    tree = copy.deepcopy(GOOD)
    for key, value in fields.items():
        (tree["spec"] if key in ("dtype", "shape", "strides", "offset") else tree)[key] = value
    return tree


def deep(n):
    tree = {"k": "value", "v": 1}
    for _ in range(n):
        tree = {"k": "list", "items": [tree]}
    return tree


MALFORMED = {
    "not a list": {"k": "value"},
    "no object": [3],
    "unknown kind": [{"k": "pickle", "v": "x"}],
    "unhashable kind": [{"k": ["array"], "v": "x"}],
    "no kind": [{}],
    "negative size": [changed(shape=[4, -6])],
    "float size": [changed(shape=[4.0, 6])],
    "bool size": [changed(shape=[True, 6])],
    "huge": [changed(shape=[1 << 40, 1 << 40])],
    "huge size": [changed(shape=[1 << 80])],
    "many dimensions": [changed(shape=[1] * 40, strides=[])],
    "dimensions without end": [changed(shape=[1] * 40, strides=[1] * 40)],
    "strides of another rank": [changed(strides=[1])],
    "string strides": [changed(strides="61")],
    "negative offset": [changed(offset=-1)],
    "sink beyond": [changed(sink=1)],
    "sink negative": [changed(sink=-1)],
    "sink bool": [changed(sink=False)],
    "sink float": [changed(sink=0.0)],
    "sink twice": [GOOD, GOOD],
    "sink of unknown dtype": [changed(dtype="float7")],
    "dtype no string": [changed(dtype=3)],
    "type no string": [changed(type=None)],
    "extra key": [{**GOOD, "expected": 1}],
    "extra key in spec": [changed() | {"spec": {**GOOD["spec"], "x": 1}}],
    "no spec": [{"k": "array", "spec": None, "sink": 0}],
    "no sink": [{k: v for k, v in GOOD.items() if k != "sink"}],
    "value with more": [{"k": "value", "v": 1, "w": 2}],
    "value list": [{"k": "value", "v": [1]}],
    "infinite value": [{"k": "value", "v": float("inf")}],
    "strange float": [{"k": "float", "v": "1e9"}],
    "float as number": [{"k": "float", "v": 1.0}],
    "half a complex": [{"k": "complex", "v": [1]}],
    "complex of strings": [{"k": "complex", "v": ["1", "2"]}],
    "items no list": [{"k": "tuple", "items": {}}],
    "too deep": [deep(40)],
    "too many": [{"k": "list", "items": [{"k": "value", "v": 0}] * 20_000}],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name):
    with pytest.raises(Malformed):
        read_outputs(MALFORMED[name], 1)


def test_well_formed():
    values, arrays = read_outputs(
        [{"k": "tuple", "items": [GOOD, {"k": "dict", "items": {"a": {"k": "float", "v": "nan"}}}]}], 1
    )
    assert arrays == [ArrayOut(TensorSpec("float32", (4, 6), (6, 1)), "torch.Tensor", "cpu", "", 0)]
    assert values[0][0] is arrays[0] and values[0][1]["a"] != values[0][1]["a"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["k", "v", "items", "spec", "sink", "shape", "dtype", "x"]), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(tree=JSON, key=st.sampled_from(["k", "spec", "type", "device", "alias", "sink"]))
def test_nothing_crashes_the_reader(tree, key):
    for outputs in (tree, [tree], [{**GOOD, key: tree}], [{"k": "tuple", "items": [tree, GOOD]}]):
        try:
            values, _ = read_outputs(outputs, 1)
        except Malformed:
            continue
        assert isinstance(mismatch(WANT, values), str)


DIFFERENT = {
    "shape": (changed(shape=[6, 4], strides=[4, 1]), "shape [6, 4], expected [4, 6]"),
    "broadcastable": (changed(shape=[1, 6], strides=[6, 1]), "shape [1, 6]"),
    "dtype": (changed(dtype="float64"), "dtype float64, expected float32"),
    "dtype of the same size": (changed(dtype="int32"), "dtype int32, expected float32"),
    "subclass": (changed(type="mine.LazyTensor"), "is a mine.LazyTensor"),
    "numpy": (changed(type="numpy.ndarray"), "is a numpy.ndarray, expected a plain torch.Tensor"),
    "device": (changed(device="cuda:0"), "lives on cuda:0, expected cpu"),
    "the host where a device is pretended": (changed(device="host"), "is in the host's memory (a CPU tensor)"),
    "expanded": (changed(strides=[0, 1]), "expanded"),
    "overlapping": (changed(strides=[2, 1]), "overlaps itself"),
    "other": ({"k": "other", "type": "builtins.generator"}, "builtins.generator"),
    "none": ({"k": "value", "v": None}, "is None, expected a torch.Tensor float32[4, 6]"),
    "list": ({"k": "list", "items": [GOOD]}, "a list"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_mismatch(name):
    tree, problem = DIFFERENT[name]
    values, _ = read_outputs([tree], 1)
    assert problem in mismatch(WANT, values)


def test_an_answer_that_the_reference_may_give_on_the_host():
    values, _ = read_outputs([changed(device="host")], 1)
    assert mismatch([replace(WANT[0], anywhere=True)], values) == ""
    values, _ = read_outputs([changed(device="host", strides=[0, 1])], 1)
    assert "expanded" in mismatch([replace(WANT[0], anywhere=True)], values)


CONTAINERS = {
    "another key": ({"a": 1}, {"k": "dict", "items": {"a": 1, "b": 2}}, "the keys ['a', 'b'], expected ['a']"),
    "a key less": ({"a": 1, "b": 2}, {"k": "dict", "items": {"a": 1}}, "the keys ['a'], expected ['a', 'b']"),
    "a longer tuple": ((1,), {"k": "tuple", "items": [1, 2]}, "a tuple of 2, expected 1"),
    "a longer list": ([1], {"k": "list", "items": [1, 2]}, "a list of 2, expected 1"),
    "a shorter list": ([1, 2], {"k": "list", "items": [1]}, "a list of 1, expected 2"),
    "a list for a tuple": ((1,), {"k": "list", "items": [1]}, "is a list, expected a tuple"),
    "a tuple for a list": ([1], {"k": "tuple", "items": [1]}, "is a tuple, expected a list"),
    "bool for int": (1, True, "is a bool, expected a int"),
    "int for bool": (True, 1, "is a int, expected a bool"),
    "float for int": (1, 1.0, "is a float, expected a int"),
    "int for float": (1.0, 1, "is a int, expected a float"),
    "nothing for int": (1, None, "is None, expected a int"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_and_numbers_are_of_the_same_kind_and_size(name):
    want, have, problem = CONTAINERS[name]

    def tree(value):
        if not isinstance(value, dict):
            return {"k": "value", "v": value}
        items = value["items"]
        inner = {k: tree(v) for k, v in items.items()} if isinstance(items, dict) else [tree(v) for v in items]
        return {"k": value["k"], "items": inner}

    values, _ = read_outputs([tree(have)], 0)
    assert problem in mismatch([want], values)


def test_arrays_of_a_dict_are_matched_by_their_keys():
    trees = {"b": GOOD, "a": changed(dtype="int32") | {"sink": 1}}
    values, arrays = read_outputs([{"k": "dict", "items": trees}], 2)
    want = {"a": Form(TensorSpec("int32", (4, 6)), True, "cpu"), "b": WANT[0]}
    assert mismatch([want], values) == ""
    assert in_order([want], values) == [arrays[1], arrays[0]]


def test_more_arrays_than_sinks_are_malformed():
    second = GOOD | {"sink": 1}
    with pytest.raises(Malformed, match="names sink 1 of 1"):
        read_outputs([GOOD, second], 1)
    assert [a.sink for a in read_outputs([GOOD, second], 2)[1]] == [0, 1]


@pytest.mark.parametrize(
    ("kind", "shape", "problem"),
    [
        ("numpy.ndarray", (4, 6), ""),
        ("cupy.ndarray", (4, 6), ""),
        ("numpy.matrix", (4, 6), "is a numpy.matrix, expected a plain numpy.ndarray"),
        ("numpy.ma.MaskedArray", (4, 6), "is a numpy.ma.MaskedArray"),
        ("torch.Tensor", (4, 6), "is a torch.Tensor"),
        ("numpy.float32", (), ""),
        ("mine.float32", (), "is a mine.float32"),
    ],
)
def test_plain_numpy_arrays_and_scalars(kind, shape, problem):
    want = [Form(TensorSpec("float32", shape), False, "cpu")]
    values, _ = read_outputs([changed(type=kind, shape=list(shape), strides=[])], 1)
    found = mismatch(want, values)
    assert problem in found if problem else found == ""


@pytest.mark.parametrize("strides", [[6, 1], [1, 4], [8, 1], [24, 3]], ids=["rows", "transposed", "padded", "sparse"])
def test_a_view_that_gives_each_element_a_place_is_honest(strides):
    values, _ = read_outputs([changed(strides=strides)], 1)
    assert mismatch(WANT, values) == ""


def test_strides_that_the_reference_has_itself():
    want = [Form(TensorSpec("float32", (4, 6), (2, 1)), True, "cpu")]
    values, _ = read_outputs([changed(strides=[2, 1])], 1)
    assert mismatch(want, values) == ""
    one = [Form(TensorSpec("float32", (4, 1)), True, "cpu")]
    assert mismatch(one, read_outputs([changed(shape=[4, 1], strides=[1, 99])], 1)[0]) == ""


def test_the_number_of_outputs_counts():
    assert "2 outputs came back, expected 1 output" in mismatch(WANT, read_outputs([GOOD, GOOD | {"sink": None}], 1)[0])


def test_through_the_judge(bench, make_task):
    bench.open(make_task(PLUS_ONE), cases=1)
    for outputs in MALFORMED.values():
        bench.lend(0)
        answer = bench.compare(0, outputs)
        if "fault" in answer:
            assert answer["ok"] and answer["fault"]["status"] == "tampered"
            assert not answer["comparison"]["ok"] and "channel" in answer["comparison"]["problem"]
        else:
            assert not answer["comparison"]["ok"], answer
    assert bench.run(lambda x: x + 1).ok
    answer = bench.compare(0, [changed(sink=None)])
    assert "did not fit" in answer["comparison"]["problem"]


def test_unlent_and_unknown(bench, make_task):
    bench.open(make_task(PLUS_ONE), cases=1)
    assert bench.compare(0, [GOOD])["error"] == "usage"
    bench.lend(0)
    assert "not lent" in bench.compare(0, [GOOD], phase="other")["message"]
    assert "not lent" in bench.compare(0, [GOOD], holder="r2")["message"]
    assert "no case 7" in bench.compare(7, [GOOD])["message"]
    assert bench.ask("explode")[0] == {"ok": False, "error": "usage", "message": "the judge has no operation 'explode'"}
    assert bench.ask("lend")[0]["error"] == "usage"
    assert bench.ask("open", task={})[0]["error"] == "usage"
