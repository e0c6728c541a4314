"""Names and constants of kernels, as the interpreter and a chip's compiler note them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
import torch

SOURCE = """
import os

C = tl.constexpr(3)
EMULATED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")

@triton.jit
def helper(x):
    return x * C

@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr, FLAG: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = helper(tl.load(x_ptr + i))
    if EMULATED:
        y += 0.0
    tl.store(y_ptr + i, y)

def candidate(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), FLAG=None)
    return y
"""
X = torch.arange(64, dtype=torch.float32)


@dataclass(frozen=True)
class Plan:
    full: bool
    block: int


class Slotted:
    __slots__ = ("one",)

    def __init__(self) -> None:
        self.one = 1


def test_both_sides_note_the_same_names() -> None:
    from kengine_triton import choices

    choices.forget()
    for value in (1, True, "a", None, (1, (2, "b")), object(), [object()], print):
        choices.note("one", value)
    choices.note("alone", 2.5)
    for n in range(20):
        choices.note("many", n)
    read = json.loads(choices.summary())
    assert list(read["one"]) == sorted(["1", "True", "'a'", "None", "(1, (2, 'b'))"])
    assert read["alone"] == {"2.5": [1, 1]} and "many" not in read
    choices.forget()
    assert choices.summary() == '{"calls": 1}'


def test_values_are_counted_by_launches_and_by_calls() -> None:
    from kengine_triton import choices

    choices.forget()
    for values in ((True, False), (True, True, True), ()):
        for value in values:
            choices.note("flag", value)
        text = choices.summary()
    choices.forget()
    assert json.loads(text) == {"calls": 3, "flag": {"True": [4, 2], "False": [1, 1]}}


def test_a_compile_notes_names_and_constants(judge: Any) -> None:
    compiled = json.loads(judge("triton:sm_90", SOURCE, [X]).artifact.details["choices"])
    assert list(compiled["kernel"]) == ["'kernel'"]
    assert list(compiled["argument BLOCK"]) == ["64"] and list(compiled["argument FLAG"]) == ["None"]
    assert list(compiled["global C"]) == ["3"] and list(compiled["global EMULATED"]) == ["False"]
    assert compiled["argument BLOCK"]["64"] == [1, 1] and compiled["calls"] == 1


def test_settings_of_triton_that_tell_who_runs_a_kernel_are_noted(judge: Any) -> None:
    if not hasattr(__import__("triton"), "knobs"):
        pytest.skip("this Triton has no knobs")
    source = SOURCE.replace("if EMULATED:", "if triton.knobs.runtime.interpret:")
    compiled = json.loads(judge("triton:sm_90", source, [X]).artifact.details["choices"])
    assert list(compiled["global triton.knobs.runtime.interpret"]) == ["False"]


def test_constants_drawn_while_a_module_loads_are_the_same_in_every_process(judge: Any) -> None:
    source = SOURCE.replace("C = tl.constexpr(3)", "import random\nC = tl.constexpr(random.getrandbits(30))")
    compiled = json.loads(judge("triton:sm_90", source, [X]).artifact.details["choices"])
    source += "\ninner = candidate\ndef candidate(x):\n    return inner(x) * 0 + C.value % 1024\n"
    answer = judge.interpret(source, X)
    assert answer.value[0] == int(next(iter(compiled["global C"]))) % 1024


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Plan(True, 64), "Plan(block=64, full=True)"),
        (Slotted(), "Slotted(one=1)"),
        (tuple(range(100)), None),
        ("x" * 100 + "a", None),
        (torch.ones(3), ""),
        (print, ""),
    ],
)
def test_objects_are_told_by_what_they_hold_and_long_texts_by_their_end(value: Any, text: str | None) -> None:
    from kengine_triton import choices

    choices.forget()
    choices.note("one", value)
    choices.note("other", value[:-1] + ("b" if isinstance(value, str) else (7,)) if text is None else value)
    read = json.loads(choices.summary())
    choices.forget()
    if text is None:
        assert read["one"] != read["other"] and all(len(v) <= 80 for v in (*read["one"], *read["other"]))
    else:
        assert read == {"calls": 1, **({"one": {text: [1, 1]}, "other": {text: [1, 1]}} if text else {})}


def test_two_kernels_of_one_name_have_other_code(judge: Any) -> None:
    source = SOURCE.replace("if EMULATED:\n        y += 0.0", "y += 1.0")
    first, second, third = (
        json.loads(judge("triton:sm_90", text, [X]).artifact.details["choices"])
        for text in (source, source.replace("y += 1.0", "y += 2.0"), "\n# a comment\n" + source)
    )
    assert first["code of kernel"] != second["code of kernel"] and first["code of kernel"] == third["code of kernel"]
    assert first["code of helper"] == second["code of helper"] == third["code of helper"]
