"""What a session is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from .limits import GIB, Chip, find_chip


@dataclass(frozen=True)
class Options:
    """Settings of a session.

    chip: trn1, trn2 or trn3 (or an alias). strict: raise on any read of memory never written. reverse_ranges: run
    `affine_range` loops and independent programs backwards. instruction_budget: instructions allowed for all launches
    of the session. lnc: logical cores used by a new-generation kernel launched without a grid. memory_limit: bytes
    that one array may take in this process. seed: of the random instructions.
    """

    chip: str = "trn2"
    strict: bool = False
    reverse_ranges: bool = False
    instruction_budget: int = 5_000_000
    lnc: int = 1
    memory_limit: int = 4 * GIB
    seed: int = 0
    limits: Chip = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", find_chip(self.chip))
        if self.lnc not in (1, 2):
            raise ValueError(f"lnc is {self.lnc!r}: expected 1 or 2")
        if self.instruction_budget < 1:
            raise ValueError(f"instruction_budget is {self.instruction_budget!r}: expected a positive number")
