"""The rules of the pack, one a file."""

from __future__ import annotations

from kengine_hip.lint.rules import (
    kh101_narrow_mask,
    kh102_half_wave,
    kh103_half_accumulator,
    kh104_kernel_library,
    kh105_empty_kernel,
    kh106_framework_operator,
)
from kengine_hip.lint.text import TextRule

RULES: tuple[TextRule, ...] = (
    kh101_narrow_mask.RULE,
    kh102_half_wave.RULE,
    kh103_half_accumulator.RULE,
    kh104_kernel_library.RULE,
    kh105_empty_kernel.RULE,
    kh106_framework_operator.RULE,
)
"""Every rule of the pack, in order of their codes."""
