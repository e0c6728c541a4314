"""Whose work the answer is: the candidate's kernels', or operators' of a framework that its kernels only hide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kengine.model import Check, JsonValue, Launch
from kengine.provenance import Facts, OperatorUse
from kengine.provenance.operators import HEAVY, INDEX, moves, plain
from kengine.provenance.passes import by_kind

if TYPE_CHECKING:
    from kengine.engine.executions import Execution
    from kengine.engine.job import Job

DELEGATED = 0.4
"""Share of the reference's own work, kind by kind, from which on it is the framework that answers."""
WHOLE_OUTPUT = 0.2
"""Share of the reference's own work from which on no output may be an operator's alone."""
HEAVY_SHARE = 0.25
"""Share of the reference's work that operators of heavy kinds may cost, whatever kinds the reference uses."""
OPERATORS = 0.6
"""Share of all the work seen that may be operators' where the reference uses other kinds of them."""
MOVED = 0.75
"""Share of the reference's work from which on moving data is what a task is about, so that it counts like the rest."""
RETURNED = 0.25
PLANNED = 0.1
"""Share of the inputs below which what the host reads of them can only be sizes and places, not the data."""
EXPORTED = 0.5
"""Share of the inputs that a wrapper may read as Python's numbers: lengths and scales, not the data."""
LIBRARY_TIME = 0.25
SCREENING = frozenset({"zeros", "constant", "copy", "insensitive", "identity", "unbound", "loose"})
"""What a task may allow its screening; it names no operator, although some have such a word in their name."""
LIBRARY_KERNELS = re.compile(
    r"cublas|cutlass|cudnn|ampere_|volta_|turing_|hopper_|sm\d+_xmma|xmma_|Cijk_|gemm_kernel|miopen|implicit_convolve|cufft|"
    r"cub::|thrust::",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Share:
    """Who did how much. problem: the sentence that says whose work it is when it is not the kernels', else "".

    coverage: share of the work that the candidate's own kernels did, 0 to 1. used: operators that count.
    """

    problem: str
    coverage: float
    used: tuple[OperatorUse, ...]


def provenance(job: Job, execution: Execution, details: dict[str, JsonValue]) -> Check:
    """Who wrote what the call that was followed returned, and which operators worked on data of its inputs."""
    name = "provenance"
    followed = [(case, facts) for case, facts in zip(execution.traced, execution.facts) if facts.followed]
    if not followed:
        return Check(name, False, True, "calls of this target cannot be followed")
    if not any(facts.kernels for _, facts in followed):
        # Launches were seen in every case; a backend that does not report what they touch leaves nothing to follow.
        return Check(name, False, True, "the backend does not say which memory its kernels touch")
    # A call is held against the reference on the same case: another way may be taken for another shape.
    references = {case: execution.judge.profile(execution.task, case) for case, _ in followed}
    judged = [(judge(facts, references[case], job.task.spec.allow), case, facts) for case, facts in followed]
    share, case, facts = min(judged, key=lambda each: (not each[0].problem, each[0].coverage))
    details["coverage"] = round(share.coverage, 4)
    if share.problem:
        where = f"{execution.task.cases[case].name}: " if case else ""
        return Check(name, True, False, where + share.problem)
    seen = f"{len(facts.kernels)} kernels in {len(followed)} calls that were followed"
    if share.used:
        seen += f", and {_listed(share.used)} on data of the inputs: {1 - share.coverage:.0%} of the work"
    return Check(name, True, True, seen + _remarks(facts))


def judge(facts: Facts, reference: Facts, allow: Sequence[str]) -> Share:
    """Hold what was seen of a candidate's call against what the reference itself computes with."""
    seen, asked = facts.operators, reference.operators
    worked = tuple(use for use in asked if not moves(use.name))
    moved = _moving(asked)
    if _cost(moved + reference.moved) >= MOVED * (_cost(moved + reference.moved) + _cost(worked)) > 0:
        moved += reference.moved
        seen, asked = seen + facts.moved, asked + reference.moved
    used = tuple(use for use in seen if not is_allowed(use.name, use.kind, allow))
    theirs, total = _cost(used), _cost(asked)
    # However it is spelled: a lookup in a table may be a choice of rows, an expansion a nearest neighbour.
    done = tuple(use for use in facts.operators + facts.moved if not is_allowed(use.name, use.kind, allow))
    done = tuple(use for use in done if not moves(use.name)) + _moving(done)
    delegated = _delegated(done, worked + moved)
    # Kernels that copy to and fro do no more of the work than there is.
    mine = max(sum(kernel.nbytes for kernel in facts.kernels), total - delegated)
    mine = min(mine, total) if total else mine
    share = mine / (mine + theirs) if mine + theirs else 0.0
    problem = (
        _writers(facts)
        or _operators(used, done, total, delegated, share)
        or _chains(done, worked + moved)
        or _outputs(facts, used, asked)
        or _elsewhere(facts)
        or _libraries(facts, allow)
    )
    return Share(problem, share, used)


def _moving(uses: Sequence[OperatorUse]) -> tuple[OperatorUse, ...]:
    """Those of some operators that only move data, all as of one kind."""
    return tuple(replace(use, kind="movement") for use in uses if moves(use.name))


def _writers(facts: Facts) -> str:
    if not facts.outputs or any(origin.kernels for origin in facts.outputs):
        return ""
    writers = sorted({origin.writer for origin in facts.outputs if origin.writer})
    by = f"it was written by {', '.join(writers)}" if writers else "nobody knows who wrote it"
    return f"nothing of what it returns comes from a kernel: {by}"


def _operators(
    used: Sequence[OperatorUse], done: Sequence[OperatorUse], total: int, delegated: int, share: float
) -> str:
    """used: operators that count in such a task; done: those that count where they do what the reference does."""
    if total and delegated >= DELEGATED * total:
        return f"{_listed(used or done)} do {delegated / total:.0%} of what the reference does; its kernels do the rest"
    heavy = [use for use in used if use.kind in HEAVY and not use.name.endswith(INDEX)]
    if total and _cost(heavy) >= HEAVY_SHARE * total:
        return f"{_listed(heavy)} work on the inputs, which is the kernel's task"
    if 1 - share > OPERATORS:
        return f"{_listed(used)} are {1 - share:.0%} of the work; its kernels do the rest"
    return ""


def _chains(done: Sequence[OperatorUse], asked: Sequence[OperatorUse]) -> str:
    """An operator that does at once what the reference does in a chain, or the other way round."""
    share = _shared(done, asked)
    if share < DELEGATED:
        return ""
    return f"{_listed(done)} do {share:.0%} of what the reference does, counted as chains; its kernels do the rest"


def _shared(done: Sequence[OperatorUse], asked: Sequence[OperatorUse]) -> float:
    """Share of the reference's work that operators do, where both are counted by elementary passes over memory. An
    operator that both use is the same to both."""
    both = {plain(use.name) for use in done} & {plain(use.name) for use in asked}
    theirs, wanted = by_kind(done, both), by_kind(asked, both)
    total = sum(wanted.values())
    return sum(min(amount, theirs.get(kind, 0)) for kind, amount in wanted.items()) / total if total else 0.0


def _outputs(facts: Facts, used: Sequence[OperatorUse], asked: Sequence[OperatorUse]) -> str:
    """One of several outputs that no kernel had a part in, although it is a good part of the work."""
    total = _cost(asked)
    for number, origin in enumerate(facts.outputs):
        if origin.kernels or not origin.inputs:
            continue
        wrote = [use for use in used if use.name == origin.writer]
        share = max(_delegated(wrote, asked) / total, _shared(wrote, asked)) if total else 0.0
        if share >= WHOLE_OUTPUT:
            return f"output {number} is {origin.writer}'s, {share:.0%} of what the reference does; no kernel wrote it"
    return ""


def _elsewhere(facts: Facts) -> str:
    """Data that took a way which is not followed: the host has read the inputs, and the answer descends from none."""
    apart = [origin for origin in facts.outputs if not origin.inputs]
    unknown = facts.foreign_bytes + facts.unwritten_bytes
    read = max(facts.exported_bytes, facts.array_bytes)
    enough = read >= PLANNED * facts.input_bytes and unknown >= RETURNED * read
    if read and (enough or (apart and facts.exported_bytes)):
        into = "was returned" if any(origin.foreign for origin in facts.outputs) else "went into its kernels"
        return f"inputs were read on the host, and data of unknown origin {into}: the host computes it"
    if facts.input_bytes and facts.exported_bytes >= EXPORTED * facts.input_bytes:
        return f"{facts.exported_bytes / facts.input_bytes:.0%} of its inputs were read on the host"
    if facts.addressed_bytes and facts.unwritten_bytes >= RETURNED * facts.addressed_bytes:
        return "inputs were read by their addresses, and its kernels read memory that no kernel or operator has written"
    if apart and len(apart) == len(facts.outputs):
        return "nothing of what it returns descends from its inputs in any way that was seen: the host computes it"
    return ""


def _libraries(facts: Facts, allow: Sequence[str]) -> str:
    device = sum(facts.device_ns.values())
    own = [kernel.name for kernel in facts.kernels]
    theirs = {
        name: ns
        for name, ns in facts.device_ns.items()
        if LIBRARY_KERNELS.search(name) and not any(_is_named(name, k) for k in own) and not is_allowed(name, "", allow)
    }
    if not device or sum(theirs.values()) <= LIBRARY_TIME * device:
        return ""
    longest = max(theirs, key=lambda n: theirs[n])
    return f"{sum(theirs.values()) / device:.0%} of the device's time is a library's ({longest[:80]})"


def _is_named(device: str, kernel: str) -> bool:
    """Whether this is how a device calls a kernel of that name: as it is, mangled, or with its types."""
    return device.startswith((f"_Z{len(kernel)}{kernel}", f"{kernel}(", f"{kernel}<", f"void {kernel}")) or (
        device == kernel
    )


def coverage(job: Job, launches: Sequence[Sequence[Launch]], details: dict[str, JsonValue]) -> Check:
    """Which of the kernels that the source defines were launched; some left over are no fault, none at all are."""
    artifacts = job.stages.compile.artifacts if job.stages.compile else ()
    defined = next((a.details["defined"] for a in artifacts if "defined" in a.details), None)
    artifact = job.artifact
    if defined is None and artifact is not None:
        defined = artifact.details.get("defined")
    names = [str(n) for n in defined] if isinstance(defined, (list, tuple)) else []
    if not names:
        return Check("coverage", False, True, "the backend does not say which kernels the source defines")
    seen = {launch.kernel for case in launches for launch in case}
    met = [n for n in names if any(_same(n, s) for s in seen)]
    details["kernels_defined"], details["kernels_launched"] = len(names), len(met)
    missing = [n for n in names if n not in met]
    if not met:
        return Check("coverage", True, False, f"none of its kernels ({', '.join(names[:6])}) is among those launched")
    rest = f"; never launched: {', '.join(missing[:6])}" if missing else ""
    return Check("coverage", True, True, f"{len(met)} of {len(names)} kernels launched{rest}")


def is_allowed(name: str, kind: str, allow: Sequence[str]) -> bool:
    """Whether a task allows an operator: by its name with or without `aten::`, its kind, its library, or part of it."""
    own, library = plain(name), name.partition("::")[0]
    for entry in allow:
        if entry in SCREENING:
            continue
        if entry in (name, kind, library) or plain(entry) == own or (len(entry) > 3 and entry.lower() in name.lower()):
            return True
    return False


def _cost(uses: Sequence[OperatorUse]) -> int:
    return sum(use.cost for use in uses)


def _delegated(used: Sequence[OperatorUse], reference: Sequence[OperatorUse]) -> int:
    """Cost of the reference's work that operators of the candidate do, kind by kind."""
    return sum(
        min(amount, sum(use.cost for use in used if use.kind == kind)) for kind, amount in _by_kind(reference).items()
    )


def _by_kind(uses: Sequence[OperatorUse]) -> Mapping[str, int]:
    result: dict[str, int] = {}
    for use in uses:
        result[use.kind] = result.get(use.kind, 0) + use.cost
    return result


def _listed(uses: Sequence[OperatorUse]) -> str:
    ranked = sorted(uses, key=lambda use: -use.cost)
    return ", ".join(use.name for use in ranked[:5]) + (f" and {len(ranked) - 5} more" if len(ranked) > 5 else "")


def _same(defined: str, launched: str) -> bool:
    return (
        launched == defined
        or launched.startswith((defined + "<", defined + "(", defined + "_"))
        or (re.sub(r"[<(].*", "", launched).rpartition("::")[2] == defined.rpartition("::")[2])
    )


def _remarks(facts: Facts) -> str:
    parts = []
    if facts.threads:
        parts.append(f"{facts.threads} threads started")
    if facts.libraries:
        parts.append(f"loaded {', '.join(facts.libraries[:4])}")
    if facts.opaque:
        parts.append(f"operators of its own: {', '.join(facts.opaque[:4])}")
    return "".join(f"; {part}" for part in parts)
