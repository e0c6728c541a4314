"""The rules of the pack, one a file."""

from __future__ import annotations

from kengine.lint.rule import Rule

from kengine_hip.lint.rules import (
    kh101_narrow_mask,
    kh102_half_wave,
    kh103_half_accumulator,
    kh105_empty_kernel,
)

RULES: tuple[Rule, ...] = (
    kh101_narrow_mask.RULE,
    kh102_half_wave.RULE,
    kh103_half_accumulator.RULE,
    kh105_empty_kernel.RULE,
)
"""Every rule of the pack, in order of their codes."""
