"""Targets: what is one, what is none, and that each is written as it is read."""

from __future__ import annotations

import pytest
from kengine.errors import TargetSyntaxError, UsageError
from kengine.target import Target


@pytest.mark.parametrize(
    ("text", "backend", "arch"),
    [
        ("triton:sm_90", "triton", "sm_90"),
        ("hip:gfx942", "hip", "gfx942"),
        ("nki:trn2.48xlarge", "nki", "trn2.48xlarge"),
        ("a_1:9-x+Y", "a_1", "9-x+Y"),
    ],
)
def test_reads_and_is_written_the_same(text, backend, arch):
    target = Target.parse(text)
    assert target == Target(backend, arch) and str(target) == text


@pytest.mark.parametrize(
    "text",
    [
        "", ":", "triton", "triton:", ":sm_90", "Triton:sm_90", "1t:sm_90", "tri-ton:sm_90", "triton:_x", "triton:-x",
        "triton:sm 90", "triton:sm_90\n", "triton\n:sm_90", " triton:sm_90", "triton:sm_90 ", "triton:sm_90:x",
        "triton:../x", "triton:é",
    ],
)  # fmt: skip
def test_everything_else_is_refused(text):
    with pytest.raises(TargetSyntaxError, match="is not of the form BACKEND:ARCH") as caught:
        Target.parse(text)
    assert isinstance(caught.value, UsageError) and repr(text) in str(caught.value)
