"""The examples for trainers, run as they stand."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import pytest
from kengine.client.client import close_shared

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def closed():
    yield
    close_shared()


def test_serve_and_call(capfd):
    pytest.importorskip("fastapi", reason="needs FastAPI (pip install 'kernel-engine[server]')")
    pytest.importorskip("httpx", reason="needs httpx (pip install 'kernel-engine[server]')")
    judged, answer, code = load("serve_and_call").main()
    assert [str(v.status) for v in judged] == ["passed", "wrong_result", "compile_failed"]
    assert answer["id"] == "by-hand" and answer["verdict"]["status"] == "passed" and code == 0
    assert 'kengine_verdicts_total{status="passed",target="toy:cpu"} 2.0' in capfd.readouterr().out


def test_verl_reward():
    pytest.importorskip("triton", reason="needs Triton (pip install 'kernel-engine[triton]')")
    scores = asyncio.run(load("verl_reward").main())
    assert {name: (s["score"], s["kengine_status"]) for name, s in scores.items()} == {
        "right": (0.5, "passed"),
        "wrong": (0.1, "wrong_result"),
        "no mask": (0.1, "launch_failed"),
        "torch does it": (0.0, "lint_rejected"),
        "no code": (0.0, "compile_failed"),
    }


@pytest.mark.slow
def test_trl_grpo():
    pytest.importorskip("trl", reason="needs TRL (pip install trl)")
    pytest.importorskip("triton", reason="needs Triton (pip install 'kernel-engine[triton]')")
    log = load("trl_grpo").main(8)
    assert len(log) == 8
    assert log[0]["grad_norm"] > 0 and log[0]["kengine/passed"] < 0.9, "it begins without knowing, and learns"
    assert sum(entry["kengine/passed"] for entry in log[-3:]) / 3 > 0.8
    assert all(entry["kengine/masked"] == 0 for entry in log)
    assert all(entry["reward"] <= 0.5 for entry in log), "no credit for speed on an emulator"
