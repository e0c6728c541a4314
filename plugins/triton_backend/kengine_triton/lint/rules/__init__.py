"""The rules of the pack, one a file."""

from __future__ import annotations

from kengine.lint.rule import Rule

from kengine_triton.lint.rules import (
    kt101_never_launched,
    kt102_missing_constexpr,
    kt103_odd_arange,
    kt104_no_tail_mask,
    kt105_host_fallback,
    kt106_half_accumulator,
    kt107_empty_kernel,
    kt108_framework_product,
)

RULES: tuple[Rule, ...] = (
    kt101_never_launched.RULE,
    kt102_missing_constexpr.RULE,
    kt103_odd_arange.RULE,
    kt104_no_tail_mask.RULE,
    kt105_host_fallback.RULE,
    kt106_half_accumulator.RULE,
    kt107_empty_kernel.RULE,
    kt108_framework_product.RULE,
)
"""Every rule of the pack, in order of their codes."""
