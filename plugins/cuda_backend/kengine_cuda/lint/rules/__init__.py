"""The rules of the pack, one a file."""

from __future__ import annotations

from kengine.lint.rule import Rule

from kengine_cuda.lint.rules import (
    kc101_never_launched,
    kc102_missing_barrier,
    kc103_no_tail_guard,
    kc104_python_float_argument,
    kc105_narrow_accumulator,
    kc106_empty_kernel,
    kc107_library_product,
)

RULES: tuple[Rule, ...] = (
    kc101_never_launched.RULE,
    kc102_missing_barrier.RULE,
    kc103_no_tail_guard.RULE,
    kc104_python_float_argument.RULE,
    kc105_narrow_accumulator.RULE,
    kc106_empty_kernel.RULE,
    kc107_library_product.RULE,
)
"""Every rule of the pack, in order of their codes."""
