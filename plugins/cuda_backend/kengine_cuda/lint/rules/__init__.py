"""The rules of the pack, one a file."""

from __future__ import annotations

from kengine.lint.rule import Rule

RULES: tuple[Rule, ...] = ()
"""Every rule of the pack, in order of their codes."""
