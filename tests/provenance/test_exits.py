"""What a candidate reads of a numpy array without numpy is known, and what numpy computes is not taken for it."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import types
from array import array

import numpy as np
import pytest
from kengine.provenance import numeric
from kengine.provenance.ledger import FOREIGN, INPUT, Ledger, Piece

X = np.arange(12, dtype=np.float32)


@pytest.fixture
def ledger():
    own = Ledger()
    own.enter(Piece(X.ctypes.data, X.ctypes.data + X.nbytes, X.nbytes, X), INPUT, "arg x")
    numeric.attach(own)
    yield own
    numeric.attach(None)


READS = {
    "memoryview": lambda a: memoryview(a)[0],
    "bytes": bytes,
    "struct": lambda a: struct.unpack("12f", a),
    "array": lambda a: array("f", bytes(a)),
    "file": lambda a: io.BytesIO().write(a),
    "join": lambda a: b"".join([a]),
    "tobytes": lambda a: a.tobytes(),
    "tolist": lambda a: a.tolist(),
    "pickle": pickle.dumps,
    "dumps": lambda a: a.dumps(),
    "flat": lambda a: [float(v) for v in a.flat],
    "data": lambda a: a.data[0],
    "loop": list,
    "places": lambda a: [a[i] for i in range(12)],
    "items": lambda a: [a.item(i) for i in range(12)],
    "nditer": lambda a: [float(v) for v in np.nditer(a)],
    "ndenumerate": lambda a: [v for _, v in np.ndenumerate(a)],
    "text": repr,
    "a view of it": lambda a: bytes(a.reshape(3, 4)),
    "a copy of it": lambda a: bytes(a.copy()),
    "a bare view": lambda a: a.view(np.ndarray),
    "its base": lambda a: a.base,
    "saved": lambda a: np.save(io.BytesIO(), a),
}


@pytest.mark.parametrize("way", READS)
def test_data_that_leaves_is_counted(ledger, way):
    READS[way](numeric.watched(X))
    assert sum(ledger.left["data"].values()) == X.nbytes


def test_a_part_counts_as_a_part(ledger):
    watched = numeric.watched(X)
    bytes(watched[:3])
    assert sum(ledger.left["data"].values()) == 12
    assert float(watched[5]) == 5.0
    assert sum(ledger.left["data"].values()) == 16


@pytest.mark.parametrize("ask", [lambda a: a.ctypes.data, lambda a: a.__array_interface__["data"][0]])
def test_an_address_is_counted_as_one(ledger, ask):
    assert ask(numeric.watched(X)) == X.ctypes.data
    assert sum(ledger.left["address"].values()) == X.nbytes
    assert sum(ledger.left["data"].values()) == 0


USES = {
    "sum": lambda a: a.sum(),
    "product": lambda a: np.dot(a, a),
    "slice": lambda a: a[2:7].reshape(-1, 1),
    "mask": lambda a: a[a > 3],
    "other type": lambda a: a.view(np.int32),
    "cast": lambda a: a.astype(np.float64),
    "shape": lambda a: (a.shape, a.dtype, a.nbytes, len(a)),
}


@pytest.mark.parametrize("way", USES)
def test_what_numpy_does_is_no_way_out(ledger, way):
    USES[way](numeric.watched(X))
    assert sum(ledger.left["data"].values()) == 0
    assert sum(ledger.left["array"].values()) == X.nbytes


def test_values_and_errors_are_numpys_own(ledger):
    watched = numeric.watched(X)
    assert bytes(watched) == X.tobytes() and watched.tolist() == X.tolist()
    assert type(pickle.loads(pickle.dumps(watched))) is np.ndarray
    assert repr(watched) == repr(X) and f"{watched[3]:.1f}" == "3.0"
    with pytest.raises(IndexError):
        watched[12]
    with pytest.raises((BufferError, ValueError, SystemError)):
        io.BytesIO().write(watched[::2])


def test_while_nothing_is_followed_nothing_is_noted(ledger):
    watched = numeric.watched(X)
    numeric.attach(None)
    assert bytes(watched) == X.tobytes()
    assert sum(ledger.left["data"].values()) == 0
    assert np.nditer is numeric._iterators["nditer"]


def test_an_array_over_constants_may_hold_anything_afterwards(ledger):
    constants = np.zeros(4, dtype=np.float32)
    piece = Piece(constants.ctypes.data, constants.ctypes.data + 16, 16, constants)
    ledger.operation("aten::zeros_like", [], [piece])
    assert ledger.flags([piece]) == 0
    numeric.watched(np.frombuffer(memoryview(constants), dtype=np.float32))
    assert ledger.flags([piece]) == FOREIGN


def test_a_library_that_hands_memory_to_kernels_is_no_way_out(ledger, monkeypatch):
    plugin = types.ModuleType("kengine_of_somebody.device")
    space = vars(plugin)
    exec("import numpy as np\ndef hand_over(a): return bytes(np.asarray(a)), a.ctypes.data", space)
    monkeypatch.setitem(sys.modules, plugin.__name__, plugin)
    space["hand_over"](numeric.watched(X).view(np.int32))
    before = {what: sum(sizes.values()) for what, sizes in ledger.left.items()}
    space["hand_over"](X)
    assert {what: sum(sizes.values()) for what, sizes in ledger.left.items()} == before
    assert before == {"data": 0, "address": 0, "array": X.nbytes}
    # A file that only says so is the candidate's.
    monkeypatch.delitem(sys.modules, plugin.__name__)
    space["hand_over"](numeric.watched(X))
    assert ledger.left["address"] and ledger.left["data"]


def test_the_way_down_to_the_array_that_owns_the_memory_ends(ledger):
    root, steps = numeric.watched(X)[2:][::2], 0
    while isinstance(root.base, np.ndarray):
        root, steps = root.base, steps + 1
        assert steps < 8
    assert np.shares_memory(root, X) and root.nbytes == X.nbytes
