"""What CUDA and HIP candidates that are wrong are told alike, and how a verdict is held against what it should say."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from typing import Any

import pytest
from native_faults import ALL, CUPY, argument_faults, missing_kernels

Verify = Callable[..., Any]
"""Judges a candidate: the form that it has, its text."""
NEEDS = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
    pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="needs a C++ compiler"),
]
_FAULTS = pytest.mark.parametrize("which", [0, 1, 2], ids=["too few", "too many", "an array for a number"])


def check(verdict: Any, text: str, status: str, message: str, line: str) -> None:
    """Hold a verdict against its status, a part of its message, and a part of the line it must name ("" for none)."""
    assert verdict.status.value == status, verdict.message
    assert message in verdict.message, verdict.message
    if line:
        assert verdict.line and line in text.split("\n")[verdict.line - 1], (verdict.line, verdict.message)
        assert f"line {verdict.line}" in verdict.message or f":{verdict.line}: " in verdict.message, verdict.message


class ErrorLines:
    """Tests of both languages, for a class of tests beside fixtures `emulated` and `compiled` (a `Verify` each)."""

    @_FAULTS
    @pytest.mark.parametrize("form", ALL)
    def test_arguments_that_do_not_fit(self, emulated: Verify, form: str, which: int) -> None:
        text, expected = argument_faults(form)[which]
        check(emulated(form, text), text, *expected)

    @_FAULTS
    @pytest.mark.parametrize("form", [*CUPY, "block"])
    def test_arguments_that_do_not_fit_where_nothing_runs(self, compiled: Verify, form: str, which: int) -> None:
        text, expected = argument_faults(form)[which]
        check(compiled(form, text), text, *expected)

    @pytest.mark.parametrize(("form", "text", "expected"), missing_kernels(), ids=ALL)
    def test_a_kernel_that_does_not_exist(self, emulated: Verify, form: str, text: str, expected: Any) -> None:
        check(emulated(form, text), text, *expected)
