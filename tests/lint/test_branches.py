"""Ways of a rule that its fixture does not go: each text gives exactly these findings of that rule."""

from __future__ import annotations

import pytest
from kengine.lint.rules import RULES
from kengine.lint.runner import run
from kengine.model import Candidate, SourceFile, Target, Task
from kengine_nki.lint import RULES as NKI
from kengine_triton.lint import RULES as TRITON

TASK = Task("t", "function", "def reference(x, w): return x\ndef make_inputs(seed, device): return 1, 2\n")
HEAD = """\
import base64, codecs, functools, itertools, os, zlib
import torch, triton
import triton.language as tl
@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * 2)
"""
LAUNCH = "    y = torch.empty_like(x)\n    kernel[(1,)](x, y, BLOCK=64)\n    return y\n"
CANDIDATE = "def candidate(x, w):\n" + LAUNCH
NEW = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n"
OLD = "from neuronxcc import nki\nimport neuronxcc.nki.language as nl\n"
COPY = "    out = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.shared_hbm)\n    nisa.dma_copy(dst=out, src=x)\n"
BODY = COPY + "    return out\n"


def found(code: str, text: str, entry: str = "candidate", target: str = "") -> list[tuple[str, int]]:
    """Severity and line of each finding of one rule."""
    rules = [r for r in (*RULES, *TRITON, *NKI) if r.code == code]
    where = Target.parse(target or ("nki:sim" if code.startswith("KN") else "triton:interpret"))
    record = run(Candidate((SourceFile("k.py", text),), entry), TASK, where, tuple(rules))
    return [(f.severity, f.line) for f in record.findings]


DECODED = [
    "exec(base64.b64decode('eCA9IDE='))",
    "exec(zlib.decompress(bytes.fromhex('789c')).decode())",
    "text = codecs.decode('k = 1', 'rot13')\nexec(text)",
    "def unpack(t):\n    return base64.b85decode(t).decode()\neval(unpack('abc'))",
]


@pytest.mark.parametrize("text", DECODED)
def test_text_that_was_encoded_is_run(text: str) -> None:
    rules = tuple(r for r in RULES if r.code == "KE106")
    whole = HEAD + text + "\n" + CANDIDATE
    (finding,) = run(
        Candidate((SourceFile("k.py", whole),), "candidate"), TASK, Target("triton", "interpret"), rules
    ).findings
    line = whole[: max(whole.find("exec("), whole.find("eval("))].count("\n") + 1
    assert (finding.severity, finding.line) == ("reject", line)
    assert "runs text that was encoded" in finding.message


@pytest.mark.parametrize("loop", ["for k in os.environ:\n    print(k)\n", "names = [k for k in os.environ]\n"])
def test_the_whole_environment_is_gone_through(loop: str) -> None:
    assert found("KE118", HEAD + loop + CANDIDATE) == [("warn", 8)]
    assert found("KE118", HEAD + "block = os.environ.get('BLOCK')\n" + CANDIDATE) == []


@pytest.mark.parametrize(
    ("decorator", "severity"),
    [("functools.lru_cache(maxsize=None)", "reject"), ("functools.cache", "reject"), ("functools.wraps(len)", "")],
)
def test_an_entry_behind_a_cache(decorator: str, severity: str) -> None:
    lines = found("KE127", HEAD + f"@{decorator}\n" + CANDIDATE)
    assert [s for s, _ in lines] == ([severity] if severity else [])


def test_a_launch_behind_a_cache_of_its_own() -> None:
    inner = "@functools.cache\ndef work(x):\n" + LAUNCH + "def candidate(x, w):\n    return work(x)\n"
    assert [s for s, _ in found("KE127", HEAD + inner)] == ["warn"]
    sizes = "@functools.cache\ndef size(n):\n    return n * 2\n" + CANDIDATE
    assert found("KE127", HEAD + sizes) == []


def test_an_iterator_that_counts_calls() -> None:
    body = "def candidate(x, w):\n    n = next(calls)\n" + LAUNCH
    assert found("KE128", HEAD + "calls = itertools.count()\n" + body) == [("warn", 10)]
    assert found("KE128", HEAD + "calls = iter([1, 2])\n" + body) == []


def test_a_result_that_a_launch_wrote_and_nobody_returns() -> None:
    dropped = LAUNCH.replace("    return y\n", "    z = x * w\n    return z\n")
    assert [s for s, _ in found("KE103", HEAD + "def candidate(x, w):\n" + dropped)] == ["warn"]
    helper = "def go(x, w):\n" + dropped + "def candidate(x, w):\n    return go(x, w)\n"
    assert [s for s, _ in found("KE103", HEAD + helper)] == ["warn"]
    assert found("KE103", HEAD + CANDIDATE) == []


def test_a_kernel_that_writes_nothing_beside_one_that_copies() -> None:
    reads = "@nki.jit\ndef reads(x):\n    t = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)\n    return x\n"
    assert found("KN106", NEW + reads + "def candidate(x):\n    return reads(x)\n") == [("warn", 5)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (NEW + "@nki.jit\ndef candidate(x):\n" + BODY + "run = nki.simulate_kernel\n", [9]),
        (NEW + "@nki.jit\ndef candidate(x):\n" + BODY + "run = nki.simulate\n", []),
        (OLD + "run = nki.simulate\n@nki.jit\ndef candidate(x):\n    return nl.load(x)\n", [3]),
        (OLD + "run = nki.simulate_kernel\n@nki.jit\ndef candidate(x):\n    return nl.load(x)\n", []),
    ],
    ids=["old name on the new package", "its own", "new name on the old package", "the old package's own"],
)
def test_names_of_the_other_generation(text: str, lines: list[int]) -> None:
    assert [line for _, line in found("KN119", text)] == lines


@pytest.mark.parametrize(("target", "count"), [("nki:trn1", 1), ("nki:trn2", 0), ("nki:trn3", 0)])
def test_a_double_row_needs_a_newer_chip(target: str, count: int) -> None:
    line = "    nisa.nc_matmul(out, x, x, perf_mode=nisa.matmul_perf_mode.double_row)\n"
    text = NEW + "@nki.jit\ndef candidate(x):\n" + COPY + line + "    return out\n"
    assert [n for _, n in found("KN158", text, target=target)] == [8] * count


def test_code_that_is_made_of_data() -> None:
    for text in ("import pickle\nwork = pickle.loads(b'')\n", "import types\nwork = types.FunctionType(c, {})\n"):
        assert found("KE106", HEAD + text + CANDIDATE) == [("warn", 9)]


def test_an_entry_that_is_put_behind_a_cache_later() -> None:
    assert found("KE127", HEAD + CANDIDATE + "fast = functools.cache(candidate)\n") == [("reject", 12)]
    assert found("KE127", HEAD + CANDIDATE + "fast = functools.partial(candidate)\n") == []


def test_a_helper_whose_launch_comes_to_nothing_beside_one_that_counts() -> None:
    helper = "def side(x):\n    y = torch.empty_like(x)\n    kernel[(1,)](x, y, BLOCK=64)\n    return x.shape[0]\n"
    used = LAUNCH.replace("    return y\n", "    return y[: side(x)]\n")
    assert found("KE103", HEAD + helper + "def candidate(x, w):\n" + used) == [("warn", 10)]
