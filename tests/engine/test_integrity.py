"""Candidates that are right when checked and cheat otherwise: each is seen by one check, and says which."""

from __future__ import annotations

import pytest
from kengine import Engine, Plan
from kengine.engine.integrity import origin
from kengine.provenance import Facts, KernelUse, OperatorUse, OutputOrigin
from toy_items import GOOD, candidate, item


@pytest.fixture(scope="module")
def engine():
    # Lint would turn most of them away at the door; here the checks behind it are tried.
    with Engine(target="toy:cpu", plan=Plan(cases=2, ignore=("KE",)), workers=1) as engine:
        yield engine


CACHE = """
key = {key}
if key not in seen:
    o = np.empty_like(x)
    add[-(-len(x) // 64)](x, y, o)
    seen[key] = o
o = np.empty_like(x)
copy[-(-len(x) // 64)](seen[key], o)
return o
"""
COPY = """
import numpy as np
from kengine.testing import toy

seen = {}

@toy.kernel
def copy(program, x, out):
    rows = slice(program * 64, min(program * 64 + 64, len(out)))
    out[rows] = x[rows]
"""

CHEATS = {
    "answer by shape": (candidate(CACHE.format(key="x.shape"), top=COPY), "wrong_result", ""),
    "answer by address": (candidate(CACHE.format(key="x.ctypes.data"), top=COPY), "wrong_result", ""),
    "answer by first element": (candidate(CACHE.format(key="float(x[0]), float(x[-1])"), top=COPY), None, ""),
    # By near contents, or by provenance where the call that is followed comes first.
    "answer by sum": (candidate(CACHE.format(key="round(float(x.sum()), 3), float(x[0])"), top=COPY), None, ""),
    "one buffer for every answer": (
        candidate("o = seen.setdefault(x.shape, np.empty_like(x))\nadd[-(-len(x) // 64)](x, y, o)\nreturn o", top=COPY),
        "wrong_result", "held outputs"),
    "wrong from the fifth call on": (
        candidate("calls.append(1)\nif len(calls) > 4: y = y + 1", top="calls = []"), None, ""),
    "replaces numpy's functions": (candidate("np.allclose = lambda *a, **k: True"), "tampered", "numpy.allclose"),
    "replaces a built-in": (
        candidate("import builtins\nbuiltins.sorted = lambda *a, **k: []"), "tampered", "builtins.sorted"),
    "a thread that goes on": (
        candidate("import threading\ndef spin():\n    while True: pass\n"
                  "threading.Thread(target=spin, daemon=True).start()"),
        "tampered", "goes on working"),
    "another kernel while it is followed": (
        candidate("o = np.empty_like(x)\nif type(x) is not np.ndarray:\n"
                  "    add[-(-len(x) // 64)](x, y, o)\n    return o\n"
                  "copy[1](x[:1], o[:1])\nreturn o if o[0] != x[0] else x + y", top=COPY),
        "sham", "while it is followed and 1 x copy"),
    "a process that stays": (
        candidate("import os, time\nif os.fork() == 0:\n    time.sleep(1000)"), "tampered", "still there"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_cheats_are_seen(engine, name):
    text, status, words = CHEATS[name]
    verdict = engine.verify(item(text))
    assert verdict.status != "passed", verdict.stages.integrity
    if status is not None:
        assert verdict.status == status, verdict.message
    assert words in verdict.message


def test_an_honest_kernel_passes_every_check_that_runs(engine):
    verdict = engine.verify(item(GOOD))
    assert verdict.status == "passed", verdict.message
    checks = {check.name: check for check in verdict.stages.integrity.checks}
    assert [name for name, check in checks.items() if not check.ok] == []
    ran = {"launched", "fresh contents", "near contents", "repeat", "sequence", "held outputs", "global state",
           "background work", "launches do nothing", "launches raise", "provenance"}  # fmt: skip
    assert {name for name, check in checks.items() if check.ran} >= ran


def test_a_task_may_allow_one_buffer_for_every_answer(engine):
    from dataclasses import replace

    text, _, _ = CHEATS["one buffer for every answer"]
    whole = item(text)
    task = replace(whole.task, spec=replace(whole.task.spec, allow=("reused-output",)))
    assert engine.verify(replace(whole, task=task)).status == "passed"


def facts(*operators, kernels=100, output=(True, True), own="k", **more):
    uses = tuple(OperatorUse(name, kind, 1, cost) for name, kind, cost in operators)
    launched = (KernelUse(own, 1, kernels),) if kernels else ()
    return Facts(uses, launched, (OutputOrigin(*output, False, "k"),), **more)


MM = ("aten::mm", "contraction", 1000)
CLONE = OperatorUse("aten::clone", "movement", 1, 200)
COPIED = ("aten::relu", "elementwise", 100)


@pytest.mark.parametrize(
    ("candidate_facts", "reference_facts", "words"),
    [
        (facts(MM), facts(MM), "aten::mm do 100% of what the reference does"),
        (facts(COPIED), facts(COPIED), "aten::relu do 100%"),
        (facts(), facts(MM), ""),
        (facts(COPIED, kernels=500), facts(MM, COPIED), ""),
        (facts(("aten::_softmax", "softmax", 400)), facts(("aten::exp", "elementwise", 1000)), "the kernel's task"),
        (facts(("aten::sum", "reduction", 20)), facts(("aten::sum", "reduction", 1000)), ""),
        (facts(("aten::exp", "elementwise", 800), kernels=200), facts(("aten::_softmax", "softmax", 200)), "80% of"),
        (facts(output=(True, False)), facts(MM), "nothing of what it returns comes from a kernel"),
        (facts(exported_bytes=100, foreign_bytes=100), facts(MM), "the host computes it"),
        (facts(exported_bytes=100, foreign_bytes=4), facts(MM), ""),
        (facts(exported_bytes=8, foreign_bytes=4096, input_bytes=1000), facts(MM), ""),
        (facts(exported_bytes=100, foreign_bytes=100, input_bytes=1000), facts(MM), "the host computes it"),
        (facts(array_bytes=1000, foreign_bytes=250, input_bytes=1000), facts(MM), "the host computes it"),
        (facts(array_bytes=1000, foreign_bytes=200, input_bytes=1000), facts(MM), ""),
        (facts(moved=(CLONE,)), facts(moved=(CLONE,)), "aten::clone do 100% of what the reference does"),
        (facts(moved=(CLONE,), kernels=2000), facts(MM, moved=(CLONE,)), ""),
        (facts(moved=(OperatorUse("aten::_to_copy", "movement", 1, 40),)), facts(moved=(CLONE,)), ""),
        (facts(device_ns={"ampere_sgemm_128x64_nn": 90, "copy_kernel": 10}), facts(MM), "90% of the device's time"),
        (facts(device_ns={"my_gemm": 90, "copy_kernel": 10}), facts(MM), ""),
        (facts(device_ns={"gemm_kernel": 90, "k": 10}), facts(MM), "90% of the device's time"),
        (facts(device_ns={"gemm_kernel": 90, "k": 10}, own="gemm_kernel"), facts(MM), ""),
        (facts(device_ns={"_Z11gemm_kernelPfS_i": 90, "k": 10}, own="gemm_kernel"), facts(MM), ""),
        (facts(device_ns={"_ZN7cutlass7Kernel2IT_E": 90, "k": 10}, own="Kernel2"), facts(MM), "90% of the device's"),
    ],
)  # fmt: skip
def test_whose_work_it_is(candidate_facts, reference_facts, words):
    problem = origin.judge(candidate_facts, reference_facts, ()).problem
    assert words in problem if words else problem == "", problem


def test_what_a_task_allows_counts_for_nothing():
    assert origin.judge(facts(MM), facts(MM), ("aten::mm",)).problem == ""
    assert origin.judge(facts(MM), facts(MM), ("mm",)).problem == ""
    assert origin.judge(facts(MM), facts(MM), ("contraction",)).problem == ""
    assert origin.judge(facts(MM), facts(MM), ("aten::bmm",)).problem != ""


def test_what_a_task_allows_its_screening_allows_no_operator():
    copied = facts(moved=(OperatorUse("aten::_to_copy", "movement", 1, 100),))
    assert origin.judge(copied, copied, ("copy", "zeros")).problem != ""
    assert origin.judge(copied, copied, ("aten::_to_copy",)).problem == ""


def test_coverage_is_the_kernels_share_of_the_work():
    # 500 bytes of its own kernel beside 100 of an operator that is none of the reference's
    found = origin.judge(facts(COPIED, kernels=500), facts(("aten::_softmax", "softmax", 300)), ())
    # of a reference of 300: kernels that move more than that do no more of the work than there is.
    assert found.coverage == pytest.approx(300 / 400)
    found = origin.judge(facts(COPIED, kernels=200), facts(("aten::_softmax", "softmax", 300)), ())
    assert found.coverage == pytest.approx(300 / 400), "nor do such that save some of it do less"
