"""What a session counted."""

from __future__ import annotations

from dataclasses import dataclass, field

ENGINES = ("tensor", "vector", "scalar", "gpsimd", "dma", "sync")


@dataclass
class Stats:
    """Counts over all launches of a session.

    by_engine and by_instruction: instructions executed. dma_bytes: bytes written by DMA. macs: multiply-accumulates of
    the tensor engine. engine_cycles: busy cycles of each engine by the public cost formulas.
    estimated_cycle_lower_bound: an estimate, the busiest engine's cycles; not a time.
    """

    by_engine: dict[str, int] = field(default_factory=dict)
    by_instruction: dict[str, int] = field(default_factory=dict)
    dma_bytes: int = 0
    macs: int = 0
    engine_cycles: dict[str, int] = field(default_factory=dict)
    sbuf_peak_bytes: int = 0
    psum_peak_bytes: int = 0

    @property
    def instructions(self) -> int:
        return sum(self.by_engine.values())

    @property
    def compute_instructions(self) -> int:
        """Instructions of the tensor, vector, scalar and gpsimd engines."""
        return sum(n for engine, n in self.by_engine.items() if engine not in ("dma", "sync"))

    @property
    def estimated_cycle_lower_bound(self) -> int:
        return max(self.engine_cycles.values(), default=0)

    def add(self, tally: dict[tuple[str, str], list[float]], dma_bytes: int, macs: int) -> None:
        """Add the counts of one program."""
        for (name, engine), (count, cycles) in tally.items():
            self.by_instruction[name] = self.by_instruction.get(name, 0) + int(count)
            self.by_engine[engine] = self.by_engine.get(engine, 0) + int(count)
            self.engine_cycles[engine] = self.engine_cycles.get(engine, 0) + int(cycles)
        self.dma_bytes += dma_bytes
        self.macs += macs


@dataclass(frozen=True)
class Launch:
    """One kernel launch: its name, generation ("new" or "old") and grid; `completed` is False for one that failed."""

    kernel: str
    generation: str
    grid: tuple[int, ...]
    instructions: int = 0
    completed: bool = True


@dataclass(frozen=True)
class Warning_:
    """Something that runs here but is wrong or undefined on hardware, with the kernel's line."""

    message: str
    file: str | None
    line: int | None
