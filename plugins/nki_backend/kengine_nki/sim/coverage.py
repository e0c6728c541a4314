"""Which functions of both generations the interpreter runs, and the numpy formula each is checked against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import formulas
from .facade.signatures import load_api
from .loader import modules

ROOT = {"new": "nki", "old": "neuronxcc.nki"}


@dataclass(frozen=True)
class Entry:
    """One function: `formula` is what its test evaluates; `note` says why it is unsupported, or since when it is."""

    generation: str
    module: str
    name: str
    supported: bool
    formula: str
    note: str = ""

    @property
    def full_name(self) -> str:
        prefix = "tensor" if self.module == "tensor" else f"{ROOT[self.generation]}.{self.module}"
        return f"{prefix}.{self.name}"


def _formula(generation: str, module: str, name: str) -> str:
    tables: list[dict[str, str]] = {
        ("new", "language"): [formulas.LANGUAGE],
        ("old", "language"): [formulas.OLD_LANGUAGE, formulas.LANGUAGE],
        ("new", "isa"): [formulas.ISA],
        ("old", "isa"): [formulas.OLD_ISA, formulas.ISA],
    }[generation, module]
    for table in tables:
        if name in table:
            return table[name]
    return ""


def coverage() -> list[Entry]:
    """All functions, tensor methods and collectives, by generation, module and name."""
    table: list[Entry] = []
    facades: dict[str, Any] = modules()
    for generation, parts in load_api().items():
        for module, names in parts.items():
            facade = facades[f"{ROOT[generation]}.{module}"]
            for name, entry in names.items():
                if entry["kind"] != "function":
                    continue
                function = vars(facade).get(name)
                why = getattr(function, "unsupported", None)
                supported = function is not None and why is None
                since = f"since NKI {entry['since']}" if "since" in entry else ""
                note = since if supported else why if isinstance(why, str) else ""
                formula = _formula(generation, module, name) if supported else ""
                table.append(Entry(generation, module, name, supported, formula, note))
        methods = formulas.TENSOR if generation == "new" else formulas.OLD_TENSOR
        table += [Entry(generation, "tensor", n, True, f) for n, f in sorted(methods.items())]
    for name, function in sorted(vars(facades["nki.collectives"]).items()):
        why = getattr(function, "unsupported", None)
        if why is not None:
            table.append(Entry("new", "collectives", name, False, "", str(why)))
    return table


def render() -> str:
    """The coverage table as Markdown."""
    entries = coverage()
    lines = [
        "# Functions of NKI and the interpreter",
        "",
        "Written by `scripts/nki_coverage.py` from `kengine_nki.sim.coverage`; a test compares this page with it.",
        "Each supported function is checked by a test that evaluates the formula shown, in the names of the function's",
        'arguments: `p` and `i` are the partition and free index, a tuple means several outputs, "distribution" means',
        "that only statistics can be checked because the hardware's random sequence is not public.",
        "",
    ]
    for generation, title in (("new", "Standalone `nki` (up to NKI 0.6)"), ("old", "`neuronxcc.nki` (SDK 2.26)")):
        mine = [e for e in entries if e.generation == generation]
        done = sum(e.supported for e in mine)
        lines += [f"## {title}", "", f"{done} of {len(mine)} supported.", ""]
        lines += ["| function | status | checked against | note |", "|---|---|---|---|"]
        for e in mine:
            status = "supported" if e.supported else "unsupported"
            formula = f"`{e.formula}`".replace("|", "\\|") if e.formula else ""
            lines.append(f"| `{e.full_name}` | {status} | {formula} | {e.note} |")
        lines.append("")
    return "\n".join(lines)
