"""Tokens and cost of sampling: of everything that was asked for, kept or lost, counted once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from kengine import cli
from kengine.curate import usage
from kengine.curate.export.card import sampling_table
from kengine.curate.record import Sample, drop, label
from kengine.curate.usage import Bill, price, read_usage

SAMPLED = Sample(
    "s:1", "s", "1", model="m", sampling={"number": 0, "prompt_tokens": 10, "completion_tokens": 20, "cost": 0.5}
)


def test_what_a_sample_says() -> None:
    assert SAMPLED.usage() == {"model": "m", "prompt_tokens": 10, "completion_tokens": 20, "cost": 0.5}
    assert label(SAMPLED, variant="N=7").usage() == {}
    assert replace(SAMPLED, sampling={"number": 3}).usage() == {"model": "m"}
    assert replace(SAMPLED, sampling={"temperature": 1.0}).usage() == {} == replace(SAMPLED, sampling={}).usage()
    assert read_usage({"cost": "much", "prompt_tokens": True, "completion_tokens": -3, "number": 1}, "m") == {
        "model": "m"
    }
    assert drop(SAMPLED, "sham").usage == SAMPLED.usage()


def test_prices() -> None:
    assert price({"prompt_tokens": 10, "completion_tokens": 20}, 1.0, 2.0) == {"cost": pytest.approx(5e-5)}
    assert price({"prompt_tokens": 10, "completion_tokens": 20}, 0, 0) == {} == price({"prompt_tokens": 1}, 1, 1)


def test_a_bill_adds_up_by_model() -> None:
    bill, other = Bill(), Bill()
    bill.add(SAMPLED.usage())
    bill.add({})
    other.add({"model": "n"})
    other.add({"model": "m", "prompt_tokens": 1, "completion_tokens": 2, "cost": 0.25, "reasons_prompt_tokens": 5,
               "reasons_completion_tokens": 7, "reasons_cost": 0.25})  # fmt: skip
    bill.merge(other)
    body = bill.to_json()
    assert body == {
        "answers": 4, "metered": 3, "priced": 3, "prompt_tokens": 16, "completion_tokens": 29, "cost": 1.0,
        "models": {
            "m": {"answers": 3, "metered": 3, "priced": 3, "prompt_tokens": 16, "completion_tokens": 29, "cost": 1.0},
            "n": {"answers": 1, "metered": 0, "priced": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0},
        },
    }  # fmt: skip
    assert usage.describe(body, 2) == (
        "4 answers were sampled for 16 prompt tokens and 29 completion tokens; 1 do not say what they took; they cost "
        "1.0000 in all as far as 3 of them say, 0.5000 for each row that is left"
    )
    assert Bill().to_json() == {} and usage.describe({}, 3) == "" and sampling_table(Bill(), 3) == []
    table = sampling_table(bill, 2)
    assert "| m | 3 | 16 | 29 | 1.0000 |" in table and "| n | 1 | - | - | - |" in table
    assert "| in all | 4 | 16 | 29 | 1.0000 |" in table


def test_card_and_report_state_what_a_run_took(write) -> None:
    task = "def reference(x):\n    return x\n\n\ndef make_inputs(seed, device):\n    return (1,)\n"
    code = "```python\ndef candidate(x):\n    return x\n```"
    rows = [{"task": "add", "backend": "toy", "completion": text, "model": "m", "prompt_tokens": 1000,
             "completion_tokens": 500} for text in (code, "none here", code + "\n")]  # fmt: skip
    folder = write({"t/add.py": task, "r.jsonl": rows, "curate.toml": (
        '[[source]]\npath = "t"\nrole = "tasks"\n[sample]\nreplay = "r.jsonl"\nk = 3\nbackends = ["toy"]\n'
        'price_in = 1.0\nprice_out = 4.0\n[export]\nformats = ["messages"]\nsplits = { train = 1.0 }\n[report]\n'
    )})  # fmt: skip
    assert cli.run(["curate", str(folder / "curate.toml"), "-q"]) == 0
    out = folder / "curated"
    card = (out / "corpus" / "README.md").read_text()
    assert (
        "3 answers were sampled for 3,000 prompt tokens and 1,500 completion tokens; they cost 0.0090 in all, " in card
    )
    assert "| m | 3 | 3,000 | 1,500 | 0.0090 |" in card
    body = json.loads((out / "report" / "report.json").read_text())["sampling"]
    assert (body["answers"], body["prompt_tokens"], body["cost"]) == (3, 3000, pytest.approx(0.009))
    assert json.loads((out / "corpus" / "funnel.json").read_text())["sampling"] == body
    assert "What sampling took" in (out / "report" / "report.html").read_text()
