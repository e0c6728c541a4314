"""What a judge of the text thinks of a candidate; it is asked only where the plan says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Opinion:
    """Whether the code genuinely implements the operator: True, False, or None for no opinion.

    reason: one sentence; with None why there is no opinion (a time-out, a refusal, an answer that is none).
    by: who said it, such as the model's name.
    """

    genuine: bool | None
    reason: str = ""
    by: str = ""
