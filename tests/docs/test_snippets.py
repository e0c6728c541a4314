"""Every piece of code that the documents show is run as it stands, or it is said here why it cannot be."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from kengine import Engine, Plan, UsageError, tasks

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
TASK = """# /// kengine
# values = ["drawn"]
# [[cases]]
# n = 100
# ///
import torch


def make_inputs(seed, device, n=100):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(n, generator=draw, device=device), torch.randn(n, generator=draw, device=device)


def reference(x, y):
    return x + y
"""
RIGHT = """import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(out + lane, tl.load(x + lane, inside) + tl.load(y + lane, inside), inside)


def candidate(x, y):
    out = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), LANES=64)
    return out
"""
WRONG = RIGHT.replace("inside) + tl", "inside) - tl")
ANSWER = "It adds in parts.\n\n```python\n{}```\n\nUse it so:\n```python\nout = candidate(x, y)\n```\n"
MISSING = {
    "": "",
    "triton": "" if all(map(importlib.util.find_spec, ("torch", "triton"))) else "torch and Triton",
    "compiler": "torch and a C++ compiler",
}
"""What is not here of what a block needs, by a word for it; "" when all is."""
if importlib.util.find_spec("torch") and any(map(shutil.which, ("g++", "clang++", "c++"))):
    MISSING["compiler"] = ""
has_gpu = shutil.which("nvidia-smi") is not None


@cache
def blocks(page: str) -> tuple[tuple[str, str], ...]:
    """Language and text of every block of code of a page, without those that a script wrote."""
    (path,) = (path for path in DOCUMENTS if path.name == page)
    text = path.read_text()
    if "This page is written by `scripts/" in text:
        return ()
    return tuple(re.findall(r"^```(python|cuda|hip)\n(.*?)^```", text, re.M | re.S))


@pytest.fixture(scope="module")
def cuda() -> Iterator[Engine]:
    with Engine(target="cuda:cpu", compile_for=(), workers=1) as engine:
        yield engine


def execute(code: str, **names: Any) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "snippet", **names}
    exec(compile(code, "snippet", "exec"), space)
    return space


def print_verdicts(code: str, request: Any, out: Callable[[], str]) -> None:
    execute(code, completions=[ANSWER.format(RIGHT), ANSWER.format(WRONG)])
    assert re.search(r"passed.*\n(?:.*\n)*.*wrong_result", out()), "the first is right, the second is not"


def print_rewards(code: str, request: Any, out: Callable[[], str]) -> None:
    execute(code)
    assert out() == "[0.5, 0.1]\n"


def print_speed(code: str, request: Any, out: Callable[[], str]) -> None:
    if has_gpu:
        execute(code)
        assert out()
        return
    with pytest.raises(UsageError, match="an emulator: it can say what is right, never how fast it is"):
        execute(code)


def judge_by_client(code: str, request: Any, out: Callable[[], str]) -> None:
    space = execute(code, completions=[ANSWER.format(RIGHT), ANSWER.format(WRONG)])
    assert [str(verdict.status) for verdict in space["judged"]] == ["passed", "wrong_result"]


def make_items(code: str, request: Any, out: Callable[[], str]) -> None:
    space = execute(code, completions=[ANSWER.format(RIGHT), "```cuda\n__global__ void k(float* x) {}\n```"])
    assert space["item"].candidate.main.text == RIGHT
    assert [each.candidate.main.path for each in space["items"]] == ["candidate.py", "candidate.cu"]
    assert space["items"][0].candidate.main.text == RIGHT


def make_rewards(code: str, request: Any, out: Callable[[], str]) -> None:
    space = execute(code)
    assert space["mine"].statuses["timed_out"] == -0.5 and callable(space["harder"])


def judge_file(code: str, request: Any, out: Callable[[], str]) -> None:
    with Engine(target="triton:interpret", compile_for=(), plan=Plan(cases=2), workers=1) as engine:
        verdict = engine.verify(tasks.parse(code, "shown.py"))
    assert verdict.passed and verdict.self_referenced, verdict.message


def read_block(code: str, request: Any, out: Callable[[], str]) -> None:
    task = tasks.parse_task(code + TASK.partition("# ///\n")[2].replace("n=100", "M=1, N=2"))
    assert task.name == "rmsnorm"
    assert [case.name for case in task.spec.cases] == [
        "M=3,N=127 float32", "M=3,N=127 float16", "M=5,N=1000 float32 strided", "M=5,N=1000 float16 strided",
        "M=3,N=127 float32 large", "M=3,N=127 float32 tiny",
    ]  # fmt: skip


def run(code: str, request: Any, out: Callable[[], str]) -> None:
    execute(code)


def ask_opinion(code: str, request: Any, out: Callable[[], str]) -> None:
    judge = execute(code)["kengine_judge"]
    task = tasks.parse_task(TASK)
    opinions = [judge(tasks.pair(text, task).candidate, task, ()) for text in ("def candidate(x): pass", RIGHT)]
    assert opinions[0].genuine is False and opinions[1] is None


def read_native_task(code: str, request: Any, out: Callable[[], str]) -> None:
    assert tasks.parse_task(code, "row_sums.py").name == "row_sums"


def judge_native(code: str, request: Any, out: Callable[[], str]) -> None:
    task = tasks.parse_task(blocks("cuda.md")[0][1])
    verdict = request.getfixturevalue("cuda").verify(tasks.pair(code, task))
    assert verdict.passed, verdict.message


def judge_by_kernel(code: str, request: Any, out: Callable[[], str]) -> None:
    example = ROOT / "examples" / "hip" / "hip2hip" / "one_block.hip"
    with Engine(target="hip:cpu", compile_for=(), workers=1) as engine:
        verdict = engine.verify(tasks.load(example, tasks.parse_task(code, "task.hip")))
    assert verdict.passed, verdict.message


SHOWN: dict[str, list[tuple[Callable[..., None], str]]] = {
    "README.md": [(print_verdicts, "triton")],
    "verdicts.md": [(print_verdicts, "triton")],
    "rewards.md": [(print_rewards, "triton"), (print_speed, "triton"), (make_rewards, "")],
    "tasks.md": [(judge_file, "triton"), (read_block, ""), (make_items, "")],
    "trainers.md": [(judge_by_client, "triton")],
    "opinion.md": [(ask_opinion, "")],
    "backends.md": [(run, ""), (run, "")],
    "cuda.md": [
        (read_native_task, ""), *[(judge_native, "compiler")] * 4, (judge_by_kernel, "compiler"),
    ],
}  # fmt: skip
"""How the blocks of each page are run, in order, and what that needs."""

NOT_RUN = {
    "cluster.md": {
        'Engine("triton", executor="ray")': "starts a Ray cluster; tests/ray judges on one in the same way",
        "Cluster(address=": "joins clusters that are elsewhere; tests/ray has the same calls",
    },
    "trainers.md": {"GRPOTrainer(": "trains a model; tests/integrations/test_trl.py takes real steps with TRL"},
    "backends.md": {" None: ...": "the signature of a hook, which test_documents compares with the hook itself"},
}
"""Blocks that are not run, by something that they hold, with the reason."""


def run_here(page: str) -> list[str]:
    """The blocks of a page that are run."""
    return [code for _, code in blocks(page) if not any(part in code for part in NOT_RUN.get(page, ()))]


@pytest.mark.parametrize("page", [path.name for path in DOCUMENTS])
def test_every_block_is_run_or_it_is_said_why_not(page: str) -> None:
    assert len(run_here(page)) == len(SHOWN.get(page, ())), f"{page}: add its new code to SHOWN or to NOT_RUN"
    for part in NOT_RUN.get(page, ()):
        assert any(part in code for _, code in blocks(page)), f"{page}: nothing holds {part!r} any more"


@pytest.mark.parametrize(("page", "number"), [(page, n) for page, shown in SHOWN.items() for n in range(len(shown))])
def test_the_code_does_what_the_page_says(
    page: str,
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    check, needs = SHOWN[page][number]
    if missing := MISSING.get(needs):
        pytest.skip(f"needs {missing}")
    (tmp_path / "candidates").mkdir()
    for name, text in {"task.py": TASK, "candidates/a.py": RIGHT, "candidates/b.py": WRONG}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    check(run_here(page)[number], request, lambda: capsys.readouterr().out)
