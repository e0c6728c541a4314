"""Deduplicates synthetic Triton kernels: seconds, memory, recall on planted clones, false merges.

    python benchmarks/dedup.py [ROWS ...]

Every family of kernels is one chain of operations in three shapes: a row a program, blocked, several rows a program.
Each of them is written four times: once as it is, then with other names, comments, another block size, independent
lines in another order, or all of these. Half of the families have a task, the other half are compared with everything.
Sizes are 20,000, 100,000 and 1,000,000 rows unless given; two processes sketch.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from arguments import whole
from kengine.curate import pipeline
from kengine.curate.dedup import Dedup, build
from kengine.curate.funnel import Funnel
from kengine.curate.record import Sample
from kengine.curate.settings import Settings
from kengine.curate.stage import Context
from kengine.curate.store import Store
from kengine.model import SourceFile, Task

JOBS = 2
COPIES = 4
SHAPES = "ABC"
TOGETHER = 500
UNARY = (
    "tl.exp({a})", "tl.log({a} + 1.0)", "tl.sqrt({a} * {a})", "tl.sigmoid({a})", "tl.abs({a})", "tl.sin({a})",
    "tl.cos({a})", "tl.exp2({a} * 0.5)", "tl.log2({a} + 2.0)", "tl.erf({a})", "tl.floor({a})", "tl.ceil({a})",
    "tl.rsqrt({a} * {a} + eps)", "{a} * {a} * {a}", "1.0 / (1.0 + tl.exp(-{a}))", "{a} / (1.0 + tl.abs({a}))",
    "tl.where({a} > 0, {a}, 0.0)", "tl.where({a} > 0, {a}, 0.1 * {a})", "tl.minimum(tl.maximum({a}, 0.0), 6.0)",
)  # fmt: skip
BINARY = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / ({b} * {b} + 1.0)", "tl.maximum({a}, {b})", "tl.minimum({a}, {b})",
    "tl.fma({a}, {b}, {a})", "tl.where({a} > {b}, {a}, {b})", "{a} * tl.sigmoid({b})", "tl.exp({a} - {b})",
    "tl.sqrt({a} * {a} + {b} * {b})", "{a} * (1.0 - {b}) + {b}",
)  # fmt: skip
REDUCTIONS = ("sum", "max", "min")
HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n"
FRAMES = {
    "A": """def {k}(x, y, width, step, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < width
    v0 = tl.load(x + row * step + cols, mask=mask, other=0.0).to(tl.float32)
{body}
    scale = tl.{red}({last}, axis=0) / width
    tl.store(y + row * step + cols, ({last} * scale).to(y.dtype.element_ty), mask=mask)
""",
    "B": """def {k}(x, y, width, step, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v0 = tl.load(x + row * step + cols, mask=cols < width, other=0.0).to(tl.float32)
{inner}
        total += {last}
    scale = tl.{red}(total, axis=0) / width
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        old = tl.load(x + row * step + cols, mask=cols < width, other=0.0).to(tl.float32)
        tl.store(y + row * step + cols, (old * scale).to(y.dtype.element_ty), mask=cols < width)
""",
    "C": """def {k}(x, y, rows, width, step, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (cols[None, :] < width)
    place = row[:, None] * step + cols[None, :]
    v0 = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
{body}
    scale = tl.{red}({last}, axis=1) / width
    tl.store(y + place, ({last} * scale[:, None]).to(y.dtype.element_ty), mask=mask)
""",
}
HOST = {
    "A": "{k}[(rows,)](x, y, width, x.stride(0), 1e-6, BLOCK=triton.next_power_of_2(width))",
    "B": "{k}[(rows,)](x, y, width, x.stride(0), 1e-6, BLOCK=1024)",
    "C": "{k}[(triton.cdiv(rows, 4),)](x, y, rows, width, x.stride(0), 1e-6, ROWS=4, BLOCK=triton.next_power_of_2(width))",
}
NAMES = re.compile(r"\b(?:v\d+|x|y|width|step|row|rows|cols|mask|scale|total|start|old|place|BLOCK|ROWS|kernel)\b")
WORDS = [f"{a}{b}" for a in ("in", "out", "tile", "acc", "off", "ptr", "val", "tmp", "blk", "row") for b in "abcdefgh"]


def write(family: int, shape: str) -> str:
    """One kernel of a family."""
    draw = random.Random(family)
    lines, values = [], ["v0"]
    for n in range(1, draw.randint(10, 14)):
        form = draw.choice(UNARY if n == 1 or draw.random() < 0.4 else BINARY)
        one = values[-1]
        lines.append(f"v{n} = " + form.format(a=one, b=draw.choice(values)))
        values.append(f"v{n}")
    given = {
        "k": "kernel", "red": draw.choice(REDUCTIONS), "last": values[-1],
        "body": "\n".join(f"    {line}" for line in lines), "inner": "\n".join(f"        {line}" for line in lines),
    }  # fmt: skip
    host = HOST[shape].format(k="kernel")
    return (
        f"{HEAD}{FRAMES[shape].format(**given)}\n\ndef candidate(x):\n    y = torch.empty_like(x)\n"
        f"    rows, width = x.shape\n    {host}\n    return y\n"
    )


def copy(code: str, draw: random.Random, copies: int) -> str:
    """The same kernel as somebody else would hand it in."""
    if copies in (2, 3):
        size = draw.choice(("256", "512", "2048"))
        code = code.replace("=1024", f"={size}").replace("=4,", "=8,").replace("(rows, 4)", "(rows, 8)")
        lines = code.split("\n")
        at = next(n for n, line in enumerate(lines) if line.startswith(("    cols = ", "    total = ")))
        lines[at - 1], lines[at] = lines[at], lines[at - 1]  # neither needs the other
        lines.insert(at + 1, f"    # {draw.random()}")
        code = "\n".join(lines)
    if copies in (1, 3):
        names = dict(zip(sorted(set(NAMES.findall(code))), draw.sample(WORDS, 40)))
        code = re.sub(NAMES, lambda m: _rename(code, m, names), code)
    return code


def _rename(code: str, match: re.Match[str], names: dict[str, str]) -> str:
    start, end = match.span()
    if code[start - 1] == "." or (match[0] == "mask" and code[end] == "="):
        return match[0]
    return names.get(match[0], match[0])


def make_samples(rows: int) -> Iterator[Sample]:
    """Samples in an order in which copies stand far apart; their family and shape are their origin."""
    families, draw, number = rows // (COPIES * len(SHAPES)), random.Random(rows), 0
    for begin in range(0, families, TOGETHER):
        kinds = [(f, shape) for f in range(begin, min(begin + TOGETHER, families)) for shape in SHAPES]
        texts = [write(family, shape) for family, shape in kinds]
        for copies in range(COPIES):
            for (family, shape), text in zip(kinds, texts):
                source = f"def reference(x):\n    return x + {family}\n"
                task = Task(f"t{family}", "function", source) if family % 2 else None
                files = (SourceFile("candidate.py", copy(text, draw, copies)),)
                yield Sample(f"s{number}", "s", f"{family}{shape}", task, "", files, "", "triton")
                number += 1


def measure(rows: int, folder: Path) -> None:
    """One size."""
    store = Store(folder)
    before, after = store.segment(0), store.segment(1)
    batch: list[Sample] = []
    characters = 0
    for sample in make_samples(rows):
        batch.append(sample)
        characters += len(sample.code)
        if len(batch) == 5000:
            before.commit(batch, [], 0, Funnel(), False)
            batch = []
    before.commit(batch, [], 0, Funnel(), True)
    count = len(before)
    settings = Settings(folder / "curate.toml", folder, folder, (), ("dedup",))
    context = Context(settings, folder, JOBS, store)
    begun, cpu = time.perf_counter(), _cpu()
    pipeline._pass([build(Dedup(), context)], before, after, lambda *_: None)
    took, (own, workers) = time.perf_counter() - begun, (now - then for now, then in zip(_cpu(), cpu))
    used = own + workers
    kept, each = (resource.getrusage(w).ru_maxrss / 1024 for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(
        f"{count:,} kernels of {characters / count:,.0f} characters: {took:.0f} s, {used:.0f} s of processors "
        f"({workers:.0f} s in {JOBS} workers), {1e6 * used / count:,.0f} us each; memory {kept + JOBS * each:,.0f} MiB",
        flush=True,
    )
    _check(before, after, store)
    store.close()


def _check(before: object, after: object, store: Store) -> None:
    origin = {s.uid: s.origin for s in before}  # type: ignore[attr-defined]
    labels = len(set(origin.values()))
    right = shapes = families = 0
    reasons: dict[str, int] = {}
    for loss in store.losses():
        kept = origin[loss.detail.split(":")[0].removeprefix("of ")]
        mine = origin[loss.uid]
        reasons[loss.reason] = reasons.get(loss.reason, 0) + 1
        right += kept == mine
        shapes += kept != mine and kept[:-1] == mine[:-1]
        families += kept[:-1] != mine[:-1]
    clones = len(origin) - labels
    told = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
    print(f"  recall {right / clones:.4f} of {clones:,} clones ({told}); "
          f"merged with another shape {shapes}, with another family {families}; kept {len(after):,}", flush=True)  # type: ignore[arg-type]  # fmt: skip
    assert right / clones > 0.98 and not shapes


def _cpu() -> tuple[float, float]:
    """Processor seconds of this process and of those that have ended."""
    usage = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return usage[0].ru_utime + usage[0].ru_stime, usage[1].ru_utime + usage[1].ru_stime


def main(arguments: list[str]) -> int:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=whole(1), help="sizes; default: 20,000, 100,000 and 1,000,000")
    for rows in parser.parse_args(arguments).rows or [20_000, 100_000, 1_000_000]:
        with tempfile.TemporaryDirectory() as folder:
            measure(rows, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
