"""What the interpreter counted, as details of a record. Cycles are an estimate and stand under a name that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kengine.model import JsonValue

if TYPE_CHECKING:
    from kengine_nki.sim import Session

MAX_WARNINGS = 20


def describe(run: Session) -> dict[str, JsonValue]:
    """Instructions by engine, bytes and products, peaks of on-chip memory in bytes of a partition, and warnings.

    estimated_cycle_lower_bound: busy cycles of the busiest engine by public cost formulas; never a time.
    """
    stats = run.stats
    details: dict[str, JsonValue] = {"chip": run.options.limits.name, "instructions": stats.instructions}
    details |= {f"instructions_{engine}": count for engine, count in sorted(stats.by_engine.items())}
    details |= {
        "dma_bytes": stats.dma_bytes,
        "macs": stats.macs,
        "sbuf_peak_bytes": stats.sbuf_peak_bytes,
        "psum_peak_bytes": stats.psum_peak_bytes,
        "estimated_cycle_lower_bound": stats.estimated_cycle_lower_bound,
    }
    if run.warnings:
        details["warnings"] = "; ".join(warnings(run))
    return details


def warnings(run: Session) -> list[str]:
    """What runs here and is wrong or undefined on a chip, each with its line."""
    return [f"{w.message} (line {w.line})" if w.line else w.message for w in run.warnings[:MAX_WARNINGS]]
