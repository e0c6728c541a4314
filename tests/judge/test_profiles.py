"""The operators of a reference."""

from __future__ import annotations

import pytest
from kengine import tasks
from kengine.judge import profiles
from kengine.judge.cache import ByteCache
from kengine.judge.session import Session

FUNCTION = """
import torch

def reference(x, w, b):
    return torch.relu(torch.nn.functional.linear(x, w, b))

def make_inputs(seed, device, n=64):
    g = torch.Generator().manual_seed(seed % 2**31)
    return [torch.randn(n, n, generator=g) for _ in range(2)] + [torch.randn(n, generator=g)]
"""
MODULE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 32)

    def forward(self, x):
        return torch.softmax(self.linear(x), -1)

def get_inputs():
    return [torch.randn(8, 32)]

def get_init_inputs():
    return []
"""
NUMPY = """
import numpy as np

def reference(x, y):
    return np.maximum(x @ y, 0)

def make_inputs(seed, device, n=16):
    draw = np.random.default_rng(seed)
    return tuple(draw.standard_normal((n, n)).astype(np.float32) for _ in range(2))
"""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (FUNCTION, {"contraction", "elementwise"}),
        (MODULE, {"contraction", "softmax"}),
        (NUMPY, {"contraction", "elementwise"}),
    ],
)
def test_kinds_of_work(text, kinds):
    if "torch" in text:
        pytest.importorskip("torch")
    session = Session(tasks.parse_task(text), "ab" * 16, "cpu", "k", ByteCache(1 << 26))
    try:
        session.open(1)
        facts = profiles.profile(session, session.cases[0])
        assert facts.followed and {use.kind for use in facts.operators} == kinds
        assert profiles.profile(session, session.cases[0]) is facts
        # following has left nothing behind that would be in the way of the next run
        assert session.expected(session.cases[0], "again").outputs
    finally:
        session.close()


def followed(text):
    session = Session(tasks.parse_task(text), "ab" * 16, "cpu", "k", ByteCache(1 << 26))
    try:
        session.open(1)
        return profiles.profile(session, session.cases[0])
    finally:
        session.close()


def test_what_is_made_of_parameters_alone_is_no_work():
    pytest.importorskip("torch")
    text = MODULE.replace("self.linear(x)", "x @ self.linear.weight.cos()")
    assert {use.name for use in followed(text).operators} == {"aten::mm", "aten::_softmax"}


def test_a_reference_that_cannot_be_followed_is_nobodys_fault(monkeypatch):
    pytest.importorskip("torch")

    def fail(session, case):
        raise RuntimeError("no mode here")

    monkeypatch.setattr(profiles, "_follow", fail)
    assert not followed(FUNCTION).followed
