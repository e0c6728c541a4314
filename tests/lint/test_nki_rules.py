"""The NKI pack: tricks are rejected, honest kernels are left alone, and what it knows is what the interpreter knows."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from kengine.lint.rules import RULES as CORE
from kengine.lint.runner import RULE_FAILED, run
from kengine.lint.source import SourceTree
from kengine.model import Candidate, Finding, SourceFile, Target, Task
from kengine_nki.lint import RULES, api, limits, lint, operators
from kengine_nki.lint.history import REMOVED
from kengine_nki.lint.tiles import Tiles

ROOT = Path(__file__).resolve().parents[2]
SIM_TESTS = ROOT / "tests" / "nki" / "sim"
EXAMPLES = sorted((ROOT / "examples" / "nki").glob("*.py"))
TASK = Task("t", "function", "def reference(x): return x\ndef make_inputs(seed): return [1]\n")
HEAD = """
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

@nki.jit
def copy_kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // 128):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128 : (i + 1) * 128, :])
        nisa.dma_copy(dst=out[i * 128 : (i + 1) * 128, :], src=tile)
    return out

@nki.jit
def exp_kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // 128):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128 : (i + 1) * 128, :])
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=out[i * 128 : (i + 1) * 128, :], src=tile)
    return out
"""


def load_module(path: Path) -> Any:
    spec = spec_from_file_location(f"lint_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def findings(text: str, entry: str = "candidate", target: str = "nki:sim") -> list[Finding]:
    candidate = Candidate((SourceFile("k.py", text),), entry)
    return list(run(candidate, TASK, Target.parse(target), RULES).findings)


def codes(text: str, severity: str = "reject") -> set[str]:
    return {f.code for f in findings(HEAD + textwrap.dedent(text)) if f.severity == severity}


HACKS = {
    "no kernel": ("KN101", "def candidate(x):\n    return np.exp(x)\n"),
    "kernel only named": ("KN101", "def candidate(x):\n    _ = exp_kernel\n    return np.exp(x)\n"),
    "kernel in the script part": (
        "KN101",
        "def candidate(x):\n    return np.exp(x)\nif __name__ == '__main__':\n    exp_kernel(1)\n",
    ),
    "answer before the copy": ("KN102", "def candidate(x):\n    return copy_kernel(np.exp(x))\n"),
    "answer after the copy": ("KN102", "def candidate(x):\n    y = copy_kernel(x)\n    return np.tanh(y)\n"),
    "product beside the copy": ("KN102", "def candidate(x, w):\n    return copy_kernel(x @ w)\n"),
    "torch in a helper": (
        "KN102",
        "import torch.nn.functional as F\ndef work(x):\n    return F.softmax(x, -1)\n"
        "def candidate(x):\n    return copy_kernel(work(x))\n",
    ),
    "function by text": ("KN102", "op = getattr(np, 'ta' 'nh')\ndef candidate(x):\n    return copy_kernel(op(x))\n"),
    "result dropped": ("KN103", "def candidate(x):\n    exp_kernel(x)\n    return np.exp(x)\n"),
    "result kept in a name that nobody reads": (
        "KN103",
        "def candidate(x):\n    unused = exp_kernel[2](x)\n    y = np.exp(x)\n    return y\n",
    ),
    "interpreter imported": (
        "KN108",
        "def candidate(x):\n    import kengine_nki.sim.session as s\n    s.active_session()\n"
        "    return exp_kernel(x)\n",
    ),
    "bytes behind a tile": (
        "KN108",
        "@nki.jit\ndef candidate(x):\n    out = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.shared_hbm)\n"
        "    nisa.memset(dst=out, value=1.0)\n    out.storage.bytes[:] = 0\n    return out\n",
    ),
    "vendor's kernel": (
        "KN109",
        "from nkilib.core.mlp.mlp import mlp_kernel\ndef candidate(x):\n    return mlp_kernel(x)\n",
    ),
}


@pytest.mark.parametrize("name", HACKS)
def test_rejected(name: str) -> None:
    code, text = HACKS[name]
    assert code in codes(text)


HONEST = {
    "kernel as the entry": "candidate = exp_kernel\n",
    "wrapper that arranges": (
        "def candidate(x):\n    flat = np.ascontiguousarray(x.reshape(-1, x.shape[-1]))\n"
        "    padded = np.pad(flat, ((0, -len(flat) % 128), (0, 0)))\n"
        "    return exp_kernel(padded)[: len(flat)].reshape(x.shape)\n"
    ),
    "simulate": "def candidate(x):\n    return nki.simulate(exp_kernel)(x)\n",
    "undecorated kernel": (
        "def body(x):\n    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
        "    nisa.dma_copy(dst=out, src=x)\n    return out\n"
        "def candidate(x):\n    return nki.simulate(nki.jit(body))(x)\n"
    ),
    "jit by call": "def body(x):\n    return x\nfast = nki.jit(body)\ndef candidate(x):\n    return fast(x)\n",
    "table of kernels": "T = {'a': exp_kernel}\ndef candidate(x):\n    return T['a'](x)\n",
    "copy task": "def candidate(x):\n    return copy_kernel(x)\n",
    "scale of a size beside a copy": "def candidate(x):\n    s = np.sqrt(x.shape[-1])\n    return copy_kernel(x)\n",
    "module with folded weights": (
        "class candidate:\n    def __init__(self, w):\n        self.w = w @ w\n    def forward(self, x):\n"
        "        return exp_kernel(x)\n    def __call__(self, x):\n        return self.forward(x)\n"
    ),
    "results collected": (
        "def candidate(x):\n    parts = []\n    for p in np.split(x, 2):\n        parts.append(exp_kernel(p))\n"
        "    return np.concatenate(parts)\n"
    ),
    "result through an output buffer": (
        "def candidate(x):\n    y = np.empty_like(x)\n    np.copyto(y, exp_kernel(x))\n    return y\n"
    ),
    "tricks in comments and strings": (
        "NOTE = 'import kengine_nki; out.storage.bytes; nisa.tensor_mul(a, mask=b)'\n"
        "def candidate(x):\n    # copy_kernel(np.exp(x)), nl.arange(4), tile + tile\n    '''nki.jit(mode=1)'''\n"
        "    return exp_kernel(x)\n"
    ),
    "its own reference": (
        "def reference(x):\n    return np.exp(x) / np.exp(x).sum()\ndef candidate(x):\n    return exp_kernel(x)\n"
        "def test():\n    assert np.allclose(candidate(1), reference(1))\n"
    ),
    "configuration with a storage": (
        "@nki.jit\ndef candidate(x, config):\n"
        "    out = nl.ndarray(x.shape, dtype=config.storage, buffer=nl.shared_hbm)\n"
        "    nisa.dma_copy(dst=out, src=x)\n    return out\n"
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_not_rejected(name: str) -> None:
    assert codes(HONEST[name]) == set()
    assert codes(HONEST[name], "warn") <= {"KN106"}  # copies are only pointed out


@pytest.mark.parametrize("entry", ["vector_add", "rms_norm", "tiled_matmul", "softmax", "flash_attention"])
@pytest.mark.parametrize("generation", ["NEW", "OLD"])
def test_honest_kernels_have_no_findings(generation: str, entry: str) -> None:
    text = getattr(load_module(SIM_TESTS / "sim_kernels.py"), generation)
    assert findings(text, entry) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples(path: Path) -> None:
    from kengine.tasks import load

    item = load([path], None)
    found = run(item.candidate, item.task, Target("nki", "sim"), (*CORE, *RULES)).findings
    assert [f for f in found if f.severity == "reject"] == []
    passes = "Passes" in (ast.get_docstring(ast.parse(path.read_text())) or "")
    assert not passes or found == ()


@pytest.mark.parametrize("generation", ["new", "old"])
def test_most_faults_of_the_interpreter_are_seen_before_it_runs(generation: str) -> None:
    faults = load_module(SIM_TESTS / "test_errors.py")
    table = faults.NEW_FAULTS if generation == "new" else faults.OLD_FAULTS
    silent = []
    for statement in table:
        text = f"{faults.HEADER[generation]}\n@nki.jit\ndef kernel(x):{faults.PRELUDE[generation]}    {statement}\n"
        line = len(text.splitlines())
        found = [f for f in findings(text + "    return hbm\n", "kernel") if f.code not in ("KN106", "KN152")]
        assert {f.severity for f in found} <= {"warn"}
        assert {f.line for f in found} <= {line}, statement
        if not found:
            silent.append(statement)
    assert len(silent) <= len(table) / 4, silent


def test_what_the_pack_knows_is_what_the_interpreter_knows() -> None:
    pytest.importorskip("ml_dtypes")
    from kengine_nki.sim import limits as chips
    from kengine_nki.sim import ops
    from kengine_nki.sim.activations import ACTIVATIONS
    from kengine_nki.sim.dtypes import DTYPES
    from kengine_nki.sim.facade import modules, signatures
    from kengine_nki.sim.facade.tile_size import TileSize

    assert set(ACTIVATIONS) | {"prelu"} == operators.ACTIVATIONS
    for name in ("ALU", "OLD_ALU", "REDUCTIONS"):
        assert getattr(operators, name) == getattr(ops, name)
    assert signatures.HINTS == api.HINTS
    assert signatures.load_api() == api.load()
    newer = {f"{m}.{n}" for m, names in modules.NEWER.items() for n in names if m != "nki.compiler"}
    assert newer == api.NEWER
    for name, chip in limits.CHIPS.items():
        theirs = chips.find_chip(name)
        assert (chip.generation, chip.sbuf_bytes) == (theirs.generation, theirs.sbuf_bytes)
        assert (chip.moving, chip.moving_narrow) == (theirs.moving_max, theirs.moving_max_16bit)
        assert (theirs.partitions, theirs.stationary_max) == (limits.PARTITIONS, limits.STATIONARY)
        assert (theirs.psum_bytes, theirs.psum_bank_bytes) == (limits.PSUM_BYTES, limits.PSUM_BANK_BYTES)
        assert theirs.bn_stats_max == limits.BN_STATS and limits.SEARCH[1] == theirs.search_max
    assert {name: getattr(TileSize, name) for name in limits.TILE_SIZE} == limits.TILE_SIZE
    assert {name: DTYPES[name].itemsize for name in limits.ITEM_BYTES} == limits.ITEM_BYTES
    assert not set(REMOVED) & set(api.members("new", "isa"))


@pytest.mark.parametrize(
    ("expression", "memory", "shape"),
    [
        ("nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)", "sbuf", (128, 512)),
        ("nl.zeros((nl.tile_size.pmax, 2 * N), dtype=nl.float32, buffer=nl.psum)", "psum", (128, 128)),
        ("nl.ndarray((n, -(-300 // 128)), dtype=nl.float32)", "sbuf", (None, 3)),
        ("tile[:, 0:256]", "sbuf", (128, 256)),
        ("tile[0:64, i * 128 : (i + 1) * 128]", "sbuf", (64, 128)),
        ("tile[:, nl.ds(i, N)]", "sbuf", (128, 64)),
        ("tile[:, start : start + 2 * N]", "sbuf", (128, 128)),
        ("tile[:, 0:512:2]", "sbuf", (128, 256)),
        ("tile[3, i]", "sbuf", (1, 1)),
        ("hbm[i, 0:4]", "shared_hbm", (4,)),
        ("tile[index]", "sbuf", None),
        ("tile.reshape((128, 4, 128))", "sbuf", (128, 4, 128)),
        ("tile.ap([[512, 128], [1, 4]])", "sbuf", None),
        ("nl.zeros((tile.shape[0], tile.shape[1] // 2), dtype=tile.dtype, buffer=nl.sbuf)", "sbuf", (128, 256)),
        ("twice", "", None),
        ("x", "hbm", None),
        ("x[0:128, :]", "hbm", None),
    ],
)
def test_tiles(expression: str, memory: str, shape: tuple[int | None, ...] | None) -> None:
    text = textwrap.dedent(
        f"""
        import nki
        import nki.language as nl
        N = 1 << 6
        @nki.jit
        def kernel(x, n, index):
            tile = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            hbm = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.shared_hbm)
            twice = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)
            twice = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.psum)
            for i in nl.affine_range(4):
                start = i * N
                found = {expression}
        """
    )
    source = SourceTree(text, ast.parse(text), "k.py", "kernel")
    value = next(
        n.value for n in source.nodes if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "found"
    )
    tile = Tiles(source).of(value)
    assert tile is not None
    assert (tile.memory, tile.shape) == (memory, shape)


@pytest.mark.parametrize("chip", ["trn1", "trn2", "trn3"])
def test_limits_follow_the_target(chip: str) -> None:
    text = HEAD + (
        "@nki.jit\ndef candidate(x):\n    big = nl.ndarray((128, 54000), dtype=nl.float32, buffer=nl.sbuf)\n"
        "    acc = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.psum)\n"
        "    nisa.nc_matmul(dst=acc, stationary=big[:, 0:128], moving=big[:, 0:1024])\n    return x\n"
    )
    found = {f.code for f in findings(text, target=f"nki:{chip}")}
    assert found == {"trn1": {"KN135", "KN143"}, "trn2": {"KN135", "KN143"}, "trn3": set()}[chip]
    lines = {f.line for f in findings(text, target=f"nki:{chip}") if f.code == "KN143"}
    assert len(lines) == {"trn1": 2, "trn2": 1, "trn3": 0}[chip]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = x\ncandidate = candidate\n",
        "@nki.jit\ndef candidate(x):\n    a = b\n    b = a\n    return nisa.dma_copy(dst=a, src=b)\n",
        "@nki.jit\ndef candidate(x):\n    x = x[0]\n    x = x + x\n    x += x\n    return x\n",
        "@nki.jit\ndef candidate(*x, **y):\n    nl.ndarray(*x, **y)\n    nl.ndarray()\n    nl.load()\n    nl.ds()\n"
        "    nl.par_dim()\n",
        "@nki.jit\ndef candidate(x):\n    t = nl.zeros((2 ** 999999, 1 << 99999, 1 // 0, -1, 1e400), nl.float32)\n"
        "    t[()]\n    t[..., None, ::0, 'a', 1:2:3, -5]\n    t.reshape()\n    t.ap()\n"
        "    t.ap([])\n    t.ap([1, [2]])\n",
        "@nki.jit\ndef candidate(x):\n"
        + "".join(f"    v{i + 1} = v{i} * 2 + v{i}\n" for i in range(300))
        + "    return v300\n",
        "@nki.jit\ndef candidate(x):\n    t = " + "nl.exp(" * 80 + "x" + ")" * 80 + "\n    return t" + "[0]" * 90,
        "@nki.jit\ndef candidate(x):\n    t = nl.zeros((128, 4), nl.float32)\n"
        + "    t = t.reshape((128, 4))[0:128, :]\n" * 1500
        + "    return t\n",
        "class candidate:\n    @nki.jit\n    def forward(self, x):\n        return nisa.activation\n",
        "candidate = lambda x: exp_kernel(x)[nl.arange(4)]\n",
    ],
)
def test_hostile_text_breaks_no_rule(text: str) -> None:
    assert [f.message for f in findings(HEAD + text) if f.code == RULE_FAILED] == []


def test_files_that_are_not_python_or_do_not_parse() -> None:
    target = Target("nki", "sim")
    for candidate in (
        Candidate((SourceFile("k.py", "def candidate(:\n"),), "candidate"),
        Candidate((SourceFile("k.cu", "__global__ void k() {}"),), "k", "cuda"),
    ):
        assert list(lint(candidate, TASK, target)) == []


def test_a_helper_file_of_the_candidate() -> None:
    files = (
        SourceFile("main.py", "from kernels import exp_kernel\ndef candidate(x):\n    return exp_kernel(x)\n"),
        SourceFile("kernels.py", HEAD),
    )
    assert [f.code for f in lint(Candidate(files, "candidate"), TASK, Target("nki", "sim"))] == []


def test_importing_the_pack_needs_neither_numpy_nor_the_interpreter() -> None:
    script = (
        f"import sys; sys.path[:0] = {[str(ROOT / 'core'), str(ROOT / 'plugins/nki_backend')]!r}; "
        "import kengine_nki.lint; "
        "print([m for m in ('numpy', 'ml_dtypes', 'torch', 'kengine_nki.sim') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize(
    "line",
    [
        "nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.add)",
        "nisa.nc_matmul(dst=p, stationary=t, moving=t, accumulate=True)",
        "t = t.reshape((128, 512))[0:128, :]",
        "h = nisa.tensor_copy(dst=t, src=t)",
    ],
)
def test_long_kernels_take_no_more_than_seconds(line: str) -> None:
    text = HEAD + (
        "@nki.jit\ndef candidate(x):\n    t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\n"
        "    p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\n    for i in nl.affine_range(4):\n"
    )
    begun = time.process_time()
    found = findings(text + f"        {line}\n" * 2000 + "    return x\n")
    assert time.process_time() - begun < 30  # some five; a quadratic rule takes minutes
    assert RULE_FAILED not in {f.code for f in found}
