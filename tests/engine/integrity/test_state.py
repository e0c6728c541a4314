"""What a runner says of its own state, and which of it is held against the candidate."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kengine.engine.integrity import state
from kengine.errors import CandidateFault

CLEAN = {"replaced": [], "changed": [], "changed_by_calls": [], "seeded": []}


def check(**reply):
    asked = []

    def request(op, body, timeout_s):
        asked.append((op, body))
        return {**CLEAN, **reply}

    found = state.unchanged(SimpleNamespace(runner=SimpleNamespace(request=request)))
    assert asked == [("state", {})]
    return found


def test_nothing_changed():
    found = check()
    assert found.ran and found.ok and found.evidence == "no function was replaced"


def test_a_harmless_setting_is_noted():
    found = check(changed=["recursion limit: 1000 -> 5000"])
    assert found.ok and "recursion limit: 1000 -> 5000" in found.evidence
    assert check(changed=["variable TMP: (none) -> x"]).ok, "set while it was imported"
    assert check(changed_by_calls=["recursion limit: 1000 -> 5000"]).ok


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"replaced": ["torch.allclose"]}, "the candidate replaced torch.allclose"),
        ({"seeded": ["torch"]}, "its calls seed the generator of torch anew each time"),
        ({"changed": ["torch default dtype: torch.float32 -> torch.float64"]}, "the candidate changed torch default"),
        ({"changed": ["torch threads: 1 -> 8"]}, "torch threads"),
        ({"changed": ["trace function: None -> <f>"]}, "trace function"),
        ({"changed": ["torch flush denormal: False -> True"]}, "torch flush denormal"),
        ({"changed_by_calls": ["torch grad mode: True -> False"]}, "torch grad mode"),
        ({"changed_by_calls": ["torch float32 matmul precision: highest -> high"]}, "matmul precision"),
        ({"changed_by_calls": ["torch.backends.cuda.matmul.allow_tf32: False -> True"]}, "allow_tf32"),
        ({"changed_by_calls": ["variable X: (none) -> 1"]}, "variable X"),
        ({"changed_by_calls": ["working directory: /a -> /b"]}, "working directory"),
    ],
)
def test_what_is_held_against_it(reply, words):
    found = check(**reply)
    assert found.ran and not found.ok and words in found.evidence


@pytest.mark.parametrize("key", CLEAN)
@pytest.mark.parametrize("value", [None, "torch", {"torch": 1}, ["a", 1], [None], ["x"] * 101])
def test_a_description_that_is_none_is_tampering(key, value):
    with pytest.raises(CandidateFault, match="a description of its state that is none") as caught:
        check(**{key: value})
    assert caught.value.status == "tampered"


def test_long_words_are_cut():
    assert len(check(replaced=["x" * 5000]).evidence) < 400
