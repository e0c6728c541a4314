"""What is the same in the next call: the candidate's module, and the objects of its arguments."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import TaskView, TensorSpec
from kengine.plugins.hooks import Inputs
from kengine.runner import entry, kept

torch = pytest.importorskip("torch")
MODULE = TaskView("module", "ModelNew")
FUNCTION = TaskView("function", "candidate")


@pytest.fixture(autouse=True)
def nothing_kept():
    kept.forget()
    yield
    kept.forget()


def array(values):
    memory = bytearray(np.asarray(values, np.float32).tobytes())
    return Array(TensorSpec("float32", np.shape(values)), memory, True)


def fill(target, values):
    target.memory[:] = np.asarray(values, np.float32).tobytes()


class Remembers(torch.nn.Module):
    """Answers every call with the first answer of its life."""

    def __init__(self, width):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros(width))
        self.answer = None

    @torch.no_grad()
    def forward(self, x):
        if self.answer is None:
            self.answer = x * self.scale
        return self.answer


class Packs(Remembers):
    """Gives its parameter up in its first call, for something that it made of it."""

    @torch.no_grad()
    def forward(self, x):
        if self.answer is None:
            self.answer = self.scale * 2
            del self.scale
        return x * self.answer


class Drifts(Remembers):
    @torch.no_grad()
    def forward(self, x):
        self.scale += 1
        return x * self.scale


class Raises(Remembers):
    def forward(self, x):
        if self.answer is None:
            self.answer = x
            raise ValueError("not yet")
        return self.answer


def call(kind, x, scale, width=2):
    inputs = Inputs((array(x),), (width,), {"scale": array(scale)}, ())
    return entry.bind({"ModelNew": kind}, MODULE, inputs)().tolist()


def test_a_module_is_the_same_while_its_parameters_are():
    assert call(Remembers, [1, 2], [3, 3]) == [3, 6]
    assert call(Remembers, [5, 5], [3, 3]) == [3, 6], "it was asked again, so it shows what it keeps"
    assert call(Remembers, [5, 5], [2, 3]) == [10, 15], "other parameters, another module"


def test_what_was_made_of_parameters_stays():
    assert call(Packs, [1, 2], [3, 4]) == [6, 16]
    assert call(Packs, [2, 2], [3, 4]) == [12, 16]
    assert call(Packs, [1, 1], [1, 1]) == [2, 2]


def test_parameters_are_set_back_before_each_call():
    assert call(Drifts, [1, 1], [1, 2]) == [2, 3]
    assert call(Drifts, [1, 1], [1, 2]) == [2, 3]


def test_setting_them_back_is_no_new_version_of_them():
    seen = []

    class Looks(Remembers):
        def forward(self, x):
            seen.append(self.scale._version)
            return x

    call(Looks, [1, 1], [1, 2])
    call(Looks, [1, 1], [1, 2])
    assert seen[0] == seen[1]


def test_other_arguments_of_the_constructor_make_another_module():
    made = []

    class Counts(Remembers):
        def __init__(self, width, how):
            super().__init__(width)
            made.append(how)

    for how in ("a", "a", "b", ["b"], ["b"]):
        inputs = Inputs((array([1, 2]),), (2, how), {"scale": array([1, 1])}, ())
        entry.bind({"ModelNew": Counts}, MODULE, inputs)()
    assert made == ["a", "b", ["b"]]


def test_a_call_that_raises_leaves_nothing():
    with pytest.raises(CandidateFault, match="not yet"):
        call(Raises, [1, 2], [3, 3])
    with pytest.raises(CandidateFault, match="not yet"):
        call(Raises, [1, 2], [3, 3])


def arguments(*arrays):
    inputs = Inputs(arrays, (), {}, ())
    return entry.bind({"candidate": lambda *a: a}, FUNCTION, inputs).arguments


def test_the_same_memory_is_the_same_tensor():
    x, y = array([1, 2]), array([3, 4])
    first = arguments(x, y)
    first[0].answer = "kept on the tensor"
    fill(x, [7, 8])
    again = arguments(x, y)
    assert again[0] is first[0] and again[1] is first[1]
    assert again[0].tolist() == [7, 8]


def test_other_memory_is_another_tensor():
    x = array([1, 2])
    first = arguments(x)
    assert arguments(array([1, 2]))[0] is not first[0]
    assert arguments(x)[0] is first[0], "whatever was called between"


def test_so_many_objects_are_kept_and_no_more(monkeypatch):
    monkeypatch.setattr(kept, "MOST", 3)
    x, others = array([1, 2]), [array([n, n]) for n in range(4)]
    first = arguments(x)[0]
    for other in others[:2]:
        arguments(other)
    assert arguments(x)[0] is first, "what is given again is the latest"
    for other in others[:3]:
        arguments(other)
    assert arguments(x)[0] is not first


@pytest.mark.parametrize("change", [lambda t: t.resize_(1), lambda t: t.requires_grad_(), lambda t: t.unsqueeze_(0)])
def test_a_tensor_that_is_not_what_it_was_is_not_given_again(change):
    x = array([1, 2])
    first = arguments(x)[0]
    change(first)
    again = arguments(x)[0]
    assert again is not first
    assert again.shape == (2,) and not again.requires_grad


def test_one_memory_twice_is_two_objects():
    x = array([1, 2])
    assert len({id(t) for t in arguments(x, x)}) == 2
    assert len({id(t) for t in arguments(x, x)}) == 2


def test_numpy_arrays_too():
    x = array([1, 2])
    inputs = Inputs((x,), (), {}, ())
    space = {"candidate": lambda a: a}
    first = entry.bind(space, FUNCTION, inputs, Array.as_numpy).arguments[0]
    assert entry.bind(space, FUNCTION, inputs, Array.as_numpy).arguments[0] is first
