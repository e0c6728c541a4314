"""What goes wrong with a candidate on the interpreter: exact status, the kernel's own line, and the message."""

from __future__ import annotations

import time
from typing import Any

import pytest
from nki_tasks import ADD, NEW, OLD, task

KERNEL = NEW + """
@nki.jit
def add(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for start in nl.affine_range(0, a.shape[0], 100):
        x = nl.ndarray((100, a.shape[1]), dtype=a.dtype, buffer=nl.sbuf)
        y = nl.ndarray((100, a.shape[1]), dtype=a.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=a[start : start + 100, :])
        nisa.dma_copy(dst=y, src=b[start : start + 100, :])
        nisa.tensor_tensor(dst=x, data1=x, data2=y, op=nl.add)
        nisa.dma_copy(dst=out[start : start + 100, :], src=x)
    return out
"""
MARK = "        nisa.tensor_tensor(dst=x, data1=x, data2=y, op=nl.add)\n"


def changed(old: str, new: str, text: str = KERNEL) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def line_of(text: str, part: str) -> int:
    (number,) = (n for n, line in enumerate(text.splitlines(), 1) if part in line)
    return number


def test_the_kernel_itself_is_right(judge: Any) -> None:
    verdict = judge(KERNEL, ADD)
    assert verdict.status == "passed", verdict.message
    assert verdict.candidate.entry == "add"
    launch = verdict.stages.launch
    assert [[(one.kernel, one.grid) for one in case] for case in launch.launches] == [[("add", (1,))]] * len(
        launch.launches
    )
    details = launch.details
    assert details["instructions"] == 8 and details["instructions_dma"] == 6 and details["instructions_vector"] == 2
    assert details["dma_bytes"] == 3 * 200 * 40 * 4 and details["macs"] == 0
    assert details["estimated_cycle_lower_bound"] > 0 and "time" not in " ".join(details)
    (artifact,) = verdict.stages.compile.artifacts
    own = {key: value for key, value in details.items() if key != "coverage"}
    assert {**artifact.details, **own} == artifact.details and [k.name for k in artifact.kernels] == ["add"]


FAULTS = {
    "unknown function": ("nisa.tensor_tensor(", "nisa.tensor_sum(", "compile_failed",
                         "module 'nki.isa' has no attribute 'tensor_sum'"),
    "unknown argument": ("op=nl.add", "op=nl.add, mask=None", "compile_failed", "unexpected keyword argument 'mask'"),
    "missing argument": ("dst=x, data1=x,", "data1=x,", "compile_failed", "missing 1 required positional argument"),
    "wrong buffer": (MARK, "        p = nl.ndarray((100, 40), dtype=nl.float32, buffer=nl.psum)\n"
                     "        nisa.dma_copy(dst=p, src=x)\n" + MARK, "compile_failed", "requires HBM or SBUF tensors"),
    "operators on tiles": (MARK, MARK + "        z = x + y\n", "compile_failed", "unsupported operand type"),
    "partitions": (MARK, "        z = nl.ndarray((129, 4), dtype=a.dtype, buffer=nl.sbuf)\n" + MARK, "compile_failed",
                   "number of partitions 129"),
    "sbuf capacity": (MARK, "        z = nl.ndarray((100, 60000), dtype=nl.float32, buffer=nl.sbuf)\n" + MARK,
                      "compile_failed", "240000 bytes per partition"),
    "output on chip": ("    return out\n", "    return x\n", "compile_failed", "must be allocated in nl.shared_hbm"),
    "output never written": ("        nisa.dma_copy(dst=out[start : start + 100, :], src=x)\n", "", "compile_failed",
                             "is never written to"),
    "own exception": (MARK, "        raise ValueError('only for even shapes')\n", "compile_failed",
                      "ValueError: only for even shapes"),
    "out of bounds": ("src=a[start : start + 100, :]", "src=a[start + 150 : start + 250, :]", "launch_failed",
                      "for tensor `a` on dimension 0: index range [150, 249] exceed dimension size of 200"),
    "hbm": (MARK, "        z = nl.ndarray((1 << 20, 1 << 14), dtype=nl.float32, buffer=nl.hbm)\n" + MARK,
            "compile_failed", "needs 68719476736 bytes, more than the 25769803776 of HBM"),
    "array too large for this machine": (
        MARK, "        z = nl.ndarray((1 << 20, 1 << 11), dtype=nl.float32, buffer=nl.hbm)\n" + MARK, "unsupported",
        "an array of 8589934592 bytes is not supported by the interpreter"),
    "newer function": (MARK, MARK + "        nisa.scalar_load(dst=x, src=y)\n", "unsupported",
                       "nki.isa.scalar_load is not supported by the interpreter: it belongs to NKI 0.7"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault(judge: Any, name: str) -> None:
    old, new, status, telling = FAULTS[name]
    text = changed(old, new)
    verdict = judge(text, ADD, cases=1)
    assert verdict.status == status, verdict.message
    assert telling in verdict.message
    if name not in ("output on chip", "output never written"):
        added = [line for line in text.splitlines() if line not in KERNEL.splitlines()]
        assert text.splitlines()[verdict.line - 1] in added
        assert f"(line {verdict.line})" in verdict.message


def test_a_refusal_ends_the_compile_a_run_time_fault_the_launch(judge: Any) -> None:
    refused = judge(changed("op=nl.add", "op=nl.add, mask=None"), ADD, cases=1)
    assert (refused.stage, refused.stages.launch) == ("compile", None)
    out = judge(changed("src=a[start : start + 100, :]", "src=a[start + 150 : start + 250, :]"), ADD, cases=1)
    assert out.stage == "launch" and out.stages.compile.artifacts[0].note.endswith(
        "a trial ended in launch_failed"
    )


def test_the_log_shows_the_candidates_frames(judge: Any) -> None:
    text = changed("op=nl.add", "op=nl.add, mask=None") + "\ndef candidate(a, b):\n    return add(a, b)\n"
    verdict = judge(text, ADD, cases=1)
    assert 'File "kernel.py", line' in verdict.log and "in candidate" in verdict.log and "in add" in verdict.log
    assert "/sim/" not in verdict.log and "/tmp" not in verdict.log


def test_a_file_without_a_kernel(judge: Any) -> None:
    verdict = judge("def candidate(a, b):\n    return a + b\n", ADD, cases=1)
    assert verdict.status == "compile_failed" and verdict.stage == "compile"
    assert "holds no NKI kernel" in verdict.message and "@nki.jit" in verdict.message


def test_a_kernel_that_is_never_launched_is_a_sham(judge: Any) -> None:
    verdict = judge(KERNEL + "\ndef candidate(a, b):\n    return a + b\n", ADD, cases=1)
    assert verdict.status == "sham" and "no kernel was launched" in verdict.message


def test_a_kernel_whose_result_is_thrown_away_is_a_sham(judge: Any) -> None:
    verdict = judge(KERNEL + "\ndef candidate(a, b):\n    add(a, b)\n    return a + b\n", ADD, cases=1)
    assert verdict.status == "sham"
    failed = [c.name for c in verdict.stages.integrity.checks if c.ran and not c.ok]
    assert failed == ["launches do nothing"]


def test_falling_back_when_the_launch_raises_is_a_sham(judge: Any) -> None:
    text = KERNEL + """
def candidate(a, b):
    try:
        return add(a, b)
    except Exception:
        return a + b
"""
    verdict = judge(text, ADD, cases=1)
    assert verdict.status == "sham"
    assert [c.name for c in verdict.stages.integrity.checks if c.ran and not c.ok] == ["launches raise"]


SWALLOWING = """
def candidate(a, b):
    try:
        return broken(a, b)
    except Exception:
        return add(a, b)
"""


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("src=a[start : start + 100, :]", "src=a[start + 150 : start + 250, :]", "launch_failed"),
        (MARK, MARK + "        nisa.scalar_load(dst=x, src=y)\n", "unsupported"),
        # One tile size that does not compile and another that does: as a wrapper may do on a real machine.
        ("op=nl.add", "op=nl.add, mask=None", "passed"),
    ],
)
def test_a_fault_that_the_host_code_catches(judge: Any, old: str, new: str, status: str) -> None:
    broken = changed(old, new).replace("def add", "def broken").removeprefix(NEW)
    verdict = judge(KERNEL + broken + SWALLOWING, ADD, cases=1)
    assert verdict.status == status, verdict.message
    if status == "passed":
        assert [one.kernel for one in verdict.stages.launch.launches[0]] == ["add"]


def test_the_instruction_budget_says_how_far_it_came(judge: Any) -> None:
    text = '# /// kengine\n# instruction_budget = 2000\n# ///\n' + changed(
        MARK, "        while True:\n            nisa.tensor_copy(dst=x, src=y)\n"
    )
    verdict = judge(text, ADD, cases=1)
    assert verdict.status == "timed_out" and verdict.stage == "launch"
    assert "came to 2000 instructions, the whole budget of 2000" in verdict.message
    assert verdict.line == line_of(text, "tensor_copy")


@pytest.mark.parametrize("inside", [True, False])
def test_the_wall_limit_says_how_far_it_came(judge: Any, inside: bool) -> None:
    loop = "        while True:\n            pass\n"
    wrapper = "\ndef candidate(a, b):\n    add(a, b)\n    while True:\n        pass\n"
    text = changed(MARK, MARK + loop) if inside else KERNEL + wrapper
    begun = time.monotonic()
    verdict = judge(text, ADD, cases=1, launch_timeout_s=2.0)
    assert time.monotonic() - begun < 20
    assert verdict.status == "timed_out" and verdict.stage == "launch"
    count = 6 if inside else 13
    where = "in kernel `add`" if inside else "outside of any kernel"
    assert f"it came to {count} instructions and allocations and was {where}" in verdict.message
    assert abs(verdict.line - line_of(text, "while True:")) <= 1


def test_mixed_generations(judge: Any) -> None:
    text = KERNEL.replace("import nki.language as nl", "import neuronxcc.nki.language as nl")
    verdict = judge(text, ADD, cases=1)
    assert verdict.status == "compile_failed" and "both generations" in verdict.message
    assert verdict.line == line_of(text, "neuronxcc")


@pytest.mark.parametrize("name", ["torch_neuronx", "nkilib.core", "jax"])
def test_packages_of_a_neuron_machine(judge: Any, name: str) -> None:
    text = KERNEL.replace("import numpy as np\n", f"import numpy as np\nimport {name}\n")
    verdict = judge(text, ADD, cases=1)
    assert verdict.status == "unsupported" and name.partition(".")[0] in verdict.message
    assert verdict.line == line_of(text, f"import {name}")


def test_an_ordinary_missing_module_is_the_candidates_fault(judge: Any) -> None:
    verdict = judge(KERNEL.replace("import numpy as np\n", "import no_such_module\n"), ADD, cases=1)
    assert verdict.status == "compile_failed" and "no_such_module" in verdict.message


def test_collectives_are_unsupported(judge: Any) -> None:
    text = KERNEL.replace("import numpy as np\n", "import nki.collectives as nccl\n")
    text = changed("    return out\n", "    nccl.all_reduce(dsts=[out], srcs=[out], op=nl.add)\n    return out\n", text)
    verdict = judge(text, ADD, cases=1)
    assert verdict.status == "unsupported" and "nki.collectives.all_reduce" in verdict.message


def test_float64_is_unsupported(judge: Any) -> None:
    verdict = judge(KERNEL, task("a + b", (200, 40), (200, 40), dtype="float64"), cases=1)
    assert verdict.status == "unsupported" and "float64" in verdict.message


UNWRITTEN = (
    "src=b[start : start + 100, :]",
    "src=b[start : start + 100, :])\n        z = nl.ndarray((100, 40), dtype=a.dtype, buffer=nl.sbuf)\n"
    "        nisa.tensor_copy(dst=x[:, 0:1], src=x[:, 0:1]",
)


def test_strict_refuses_reads_of_memory_that_nobody_wrote(judge: Any) -> None:
    text = changed(MARK, "        z = nl.ndarray((100, 40), dtype=a.dtype, buffer=nl.sbuf)\n"
                   "        nisa.tensor_tensor(dst=z, data1=z, data2=y, op=nl.add)\n" + MARK)  # fmt: skip
    assert judge(text, ADD, cases=1).status == "passed"
    verdict = judge("# /// kengine\n# strict = true\n# ///\n" + text, ADD, cases=1)
    assert verdict.status == "launch_failed" and "read of uninitialized" in verdict.message


HAZARD = NEW + """
@nki.jit
def product(a, b):
    out = nl.ndarray((64, 96), dtype=a.dtype, buffer=nl.shared_hbm)
    x = nl.load(a)
    y = nl.load(b)
    total = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.psum)
    nisa.memset(dst=total, value=0.0)
    nisa.nc_matmul(dst=total, stationary=x, moving=y, accumulate=True)
    result = nl.ndarray((64, 96), dtype=a.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=total)
    nl.store(out, result)
    return out
"""


def test_hazards_are_advice_and_faults_in_strict_mode(judge: Any) -> None:
    product = task("a.T @ b", (128, 64), (128, 96))
    verdict = judge(HAZARD, product, cases=1)
    assert verdict.status == "passed", verdict.message
    telling = "nc_matmul accumulates onto PSUM written by another instruction: incorrect results on hardware"
    assert telling in verdict.stages.launch.details["warnings"]
    assert telling in verdict.stages.compile.artifacts[0].kernels[0].details["warnings"]
    strict = judge("# /// kengine\n# strict = true\n# ///\n" + HAZARD, product, cases=1)
    assert strict.status == "launch_failed" and telling in strict.message
    assert "nisa.nc_matmul" in strict.candidate.main.text.splitlines()[strict.line - 1]


RACE = NEW + """
@nki.jit
def last(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    x = nl.load(a)
    y = nl.load(b)
    kept = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.sbuf)
    tiles = [x, y]
    for n in nl.affine_range(2):
        nisa.tensor_copy(dst=kept, src=tiles[n])
    nl.store(out, kept)
    return out
"""


def test_a_race_between_independent_iterations_is_advice(judge: Any) -> None:
    second = task("b + 0 * a", (100, 40), (100, 40), block='# allow = ["copy"]')
    verdict = judge(RACE, second, cases=1)
    assert verdict.status == "passed", verdict.message
    (artifact,) = verdict.stages.compile.artifacts
    telling = "of 4000 elements when affine_range loops and independent programs run in reverse order"
    assert telling in artifact.kernels[0].details["race"]
    assert "race: output 0 differs" in artifact.note
    quiet = judge("# /// kengine\n# reverse_ranges = false\n# ///\n" + RACE, second, cases=1)
    assert "race" not in quiet.stages.compile.artifacts[0].details


@pytest.mark.parametrize(
    ("block", "telling"),
    [
        ('chip = "trn9"', "unknown chip 'trn9'"),
        ("chip = 2", "chip = 2: expected text"),
        ("strict = 1", "strict = 1: expected true or false"),
        ("lnc = 3", "lnc = 3: lnc is 3"),
        ("instruction_budget = 0", "expected a positive number"),
        ("instruction_budgets = 5", "did you mean 'instruction_budget'"),
    ],
)
def test_keys_of_the_block_that_make_no_sense(judge: Any, block: str, telling: str) -> None:
    verdict = judge(f"# /// kengine\n# {block}\n# ///\n" + KERNEL, ADD, cases=1)
    assert verdict.status == "compile_failed" and telling in verdict.message


def test_the_chip_decides_what_is_allowed(judge: Any) -> None:
    wide = changed(MARK, "        z = nl.ndarray((100, 51200), dtype=nl.float32, buffer=nl.sbuf)\n" + MARK)
    for chip, status in (("trn1", "compile_failed"), ("trn2", "passed"), ("trn3", "passed")):
        verdict = judge(f'# /// kengine\n# chip = "{chip}"\n# ///\n' + wide, ADD, cases=1)
        assert verdict.status == status, (chip, verdict.message)
        if status == "passed":
            assert verdict.stages.launch.details["chip"] == chip


@pytest.mark.parametrize(
    ("text", "status", "telling"),
    [
        ("", "compile_failed", "empty"),
        ("import nki\n@nki.jit\ndef candidate(a, b:\n", "compile_failed", "syntax error"),
        (KERNEL.replace("def add(a, b)", "def add(a)"), "launch_failed", "wrong parameters"),
        (KERNEL + "\n\0", "compile_failed", "NUL"),
        (KERNEL + "\ndef candidate(a, b):\n    import sys\n    sys.exit(0)\n", "launch_failed", "tried to end"),
        (KERNEL + "\nraise RuntimeError('no')\n", "compile_failed", "importing it raised RuntimeError: no"),
    ],
)
def test_texts_that_are_no_candidates(judge: Any, text: str, status: str, telling: str) -> None:
    verdict = judge(text, ADD, cases=1)
    assert verdict.status == status and telling in verdict.message, (verdict.status, verdict.message)


def test_the_old_generation_has_the_same_statuses(judge: Any) -> None:
    text = OLD + """
@nki.jit
def add(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    p, f = nl.mgrid[0:128, 0:a.shape[1]]
    for i in nl.affine_range((a.shape[0] + 127) // 128):
        inside = i * 128 + p < a.shape[0]
        total = nl.load(a[i * 128 + p, f], mask=inside) + nl.load(b[i * 128 + p, f], mask=inside)
        nl.store(out[i * 128 + p, f], value=total, mask=inside)
    return out
"""
    assert judge(text, ADD).status == "passed"
    for old, new, status in (
        ("nl.load(a[i * 128 + p, f], mask=inside)", "nl.load(a[i * 128 + p, f])", "launch_failed"),
        ("nl.mgrid[0:128,", "nl.mgrid[0:256,", "compile_failed"),
        ("value=total, mask=inside", "value=total, masked=inside", "compile_failed"),
        ("] for", "] for", ""),
    ):
        if status:
            verdict = judge(changed(old, new, text), ADD, cases=1)
            assert verdict.status == status, verdict.message
            assert verdict.line > 0


def test_a_shape_that_is_refused_ends_the_compile_whatever_the_order_of_cases(judge: Any) -> None:
    text = changed("    out = nl", "    assert a.shape[0] % 100 == 0, 'rows must come in hundreds'\n    out = nl")
    shapes = """
# /// kengine
# [[cases]]
# rows = 100
#
# [[cases]]
# rows = 150
# ///
import numpy as np

def make_inputs(seed, device, rows=100):
    draw = np.random.default_rng(seed)
    return [draw.standard_normal((rows, 40)).astype(np.float32) for _ in range(2)]

def reference(a, b):
    return a + b
"""
    verdict = judge(text, shapes)
    assert (verdict.status, verdict.stage) == ("compile_failed", "compile"), verdict.message
    assert "AssertionError: rows must come in hundreds" in verdict.message
