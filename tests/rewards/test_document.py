"""docs/rewards.md shows what the commands and functions print now, and names every preset."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path

import pytest
from kengine import codec, rewards
from kengine.model import Verdict
from kengine.rewards.presets import HOME

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "rewards.md").read_text()


def test_every_command_prints_what_is_shown() -> None:
    if shutil.which("kengine", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("the command kengine is not installed beside this Python")
    spec = importlib.util.spec_from_file_location("refresh_docs", ROOT / "scripts" / "refresh_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert TEXT.count("$ kengine ") == 3
    assert module.refresh(TEXT, ROOT) == TEXT


def test_the_feedback_is_what_is_written_now() -> None:
    lines = (ROOT / "docs" / "data" / "verdicts.jsonl").read_text().splitlines()
    verdicts = [codec.loads(line, Verdict) for line in lines]
    (judged,) = (v for v in verdicts if v.candidate.main.path.endswith("subtracts_mean.py"))
    assert f"```text\n{rewards.write_feedback(judged, max_chars=256)}\n```" in TEXT
    assert judged.stages.compare is not None
    worst = judged.stages.compare.comparisons[0].worst
    assert worst is not None and worst.expected not in rewards.write_feedback(judged)


def test_every_preset_has_its_row() -> None:
    table = TEXT[TEXT.index("## Presets") : TEXT.index("## One's own")]
    named = re.findall(
        r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    )
    assert sorted(named) == sorted(HOME)
