"""Whose work the answer is: each sentence of `origin`, at its limit and just short of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kengine.engine.integrity import origin
from kengine.model import Artifact, CompileRecord, Launch, Stages, Target, Task, TaskSpec
from kengine.provenance import Facts, KernelUse, OperatorUse, OutputOrigin

REFERENCE = Facts((OperatorUse("aten::mm", "contraction", 1, 1000),))
OWN = OutputOrigin(True, True, False, "k")
HOST = OutputOrigin(False, True, False, "k")
ELSEWHERE = OutputOrigin(False, True, True, "k")
KERNELS = (KernelUse("k", 1, 100),)


def facts(outputs=(OWN,), operators=(), kernels=KERNELS, **more):
    return Facts(operators, kernels, outputs, **more)


def uses(*given):
    return tuple(OperatorUse(name, kind, 1, cost) for name, kind, cost in given)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (facts((OutputOrigin(True, False, False, "aten::add"),)), "it was written by aten::add"),
        (facts((OutputOrigin(False, False, True, ""),)), "nobody knows who wrote it"),
        (facts((OutputOrigin(True, False, False, "aten::add"), OWN)), ""),
        (facts(()), ""),
        # Inputs that were read on the host, and data that came from nowhere.
        (facts(exported_bytes=100, foreign_bytes=25), "went into its kernels: the host computes it"),
        (facts(exported_bytes=100, foreign_bytes=24), ""),
        (facts(exported_bytes=100, unwritten_bytes=20, foreign_bytes=5), "went into its kernels"),
        (facts((ELSEWHERE, OWN), exported_bytes=1), "data of unknown origin was returned"),
        (facts((HOST, OWN), exported_bytes=1), "went into its kernels"),
        (facts((HOST, OWN)), ""),
        (facts((HOST, HOST)), "descends from its inputs in any way that was seen"),
        # Most of the inputs, number by number.
        (facts(exported_bytes=500, input_bytes=1000), "50% of its inputs were read on the host"),
        (facts(exported_bytes=499, input_bytes=1000), ""),
        # By address, and kernels that read what nobody wrote.
        (facts(addressed_bytes=100, unwritten_bytes=25), "inputs were read by their addresses"),
        (facts(addressed_bytes=100, unwritten_bytes=24), ""),
        (facts(unwritten_bytes=100), ""),
        # A library's share of the device's time.
        (facts(device_ns={"cublasLt_gemm": 26, "k": 74}), "26% of the device's time is a library's (cublasLt_gemm)"),
        (facts(device_ns={"cublasLt_gemm": 25, "k": 75}), ""),
        (facts(device_ns={"cublas_a": 20, "cutlass_b": 30, "k": 50}), "50% of the device's time is a library's"),
        # Operators: kind by kind, heavy ones of any kind, and all of them together.
        (facts(operators=uses(("aten::bmm", "contraction", 500))), "aten::bmm do 50% of what the reference does"),
        (facts(operators=uses(("aten::bmm", "contraction", 249))), ""),
        (facts(operators=uses(("aten::_softmax", "softmax", 250))), "work on the inputs, which is the kernel's task"),
        (facts(operators=uses(("aten::_softmax", "softmax", 249))), ""),
        (facts(operators=uses(("aten::exp", "elementwise", 1501))), "are 60% of the work; its kernels do the rest"),
        (facts(operators=uses(("aten::exp", "elementwise", 1499))), ""),
    ],
)
def test_sentences(found, words):
    problem = origin.judge(found, REFERENCE, ()).problem
    assert words in problem if words else problem == "", problem


def test_only_work_of_the_references_own_kinds_is_delegated():
    reference = Facts(uses(("aten::mm", "contraction", 500), ("aten::exp", "elementwise", 500)))
    # More of one kind than the reference has of it stands for no other kind.
    found = origin.judge(facts(operators=uses(("aten::relu", "elementwise", 700))), reference, ())
    assert "of what the reference does" in found.problem and "50%" in found.problem
    found = origin.judge(facts(operators=uses(("aten::sum", "reduction", 200))), reference, ())
    assert found.problem == ""
    found = origin.judge(facts(operators=uses(("aten::relu", "elementwise", 399))), reference, ())
    assert found.problem == "" and found.coverage == pytest.approx(601 / 1000)


@pytest.mark.parametrize(("cost", "share"), [(200, "20%"), (199, None), (700, "20%")])
def test_no_output_that_is_a_good_part_of_the_work_is_an_operators_alone(cost, share):
    reference = Facts(uses(("aten::exp", "elementwise", 800), ("aten::sum", "reduction", 200)))
    written = OutputOrigin(True, True, False, "kernel"), OutputOrigin(True, False, False, "aten::sum")
    found = origin.judge(facts(written, operators=uses(("aten::sum", "reduction", cost))), reference, ())
    if share is None:
        assert found.problem == ""
        return
    assert found.problem == f"output 1 is aten::sum's, {share} of what the reference does; no kernel wrote it"
    found = origin.judge(facts(written, operators=uses(("aten::sum", "reduction", cost))), reference, ("sum",))
    assert found.problem == ""
    both = OutputOrigin(True, True, False, "kernel"), OutputOrigin(True, True, False, "aten::sum")
    found = origin.judge(facts(both, operators=uses(("aten::sum", "reduction", cost))), reference, ())
    assert found.problem == "", "a kernel had a part in it"


WRITTEN_OUT = uses(
    ("aten::mul", "elementwise", 700), ("aten::exp", "elementwise", 100), ("aten::sum", "reduction", 200)
)  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "cost", "share"), [
    ("aten::gelu", "elementwise", 45, "40%"),  # nine passes
    ("aten::gelu", "elementwise", 44, None),
    ("aten::_softmax", "softmax", 100, "40%"),  # three passes and a reduction
    ("aten::_softmax", "softmax", 99, None),
    ("aten::var_mean", "reduction", 80, "48%"),  # no more reductions than there are
    ("aten::exp", "elementwise", 399, None),  # elementary: what it costs
])  # fmt: skip
def test_an_operator_counts_as_the_chain_it_stands_for(name, kind, cost, share):
    found = origin.judge(facts(operators=uses((name, kind, cost))), Facts(WRITTEN_OUT), ()).problem
    expected = f"{name} do {share} of what the reference does, counted as chains; its kernels do the rest"
    assert found == (expected if share else "")
    assert origin.judge(facts(operators=uses((name, kind, cost))), Facts(WRITTEN_OUT), (kind,)).problem == ""


def test_a_chain_counts_as_the_operator_that_it_replaces():
    reference = Facts(uses(("aten::mse_loss", "loss", 1000)))  # 2500 elementwise, 500 in a reduction
    chain = uses(("aten::sub", "elementwise", 1000), ("aten::mean", "reduction", 200))
    found = origin.judge(facts(operators=chain), reference, ()).problem
    assert found == (
        "aten::sub, aten::mean do 40% of what the reference does, counted as chains; its kernels do the rest"
    )
    assert origin.judge(facts(operators=chain[:1]), reference, ()).problem == ""


def test_an_operator_that_both_use_counts_as_it_is():
    reference = Facts(uses(("aten::gelu", "elementwise", 100), ("aten::mm", "contraction", 900)))
    assert origin.judge(facts(operators=uses(("aten::gelu", "elementwise", 100))), reference, ()).problem == ""


def test_an_output_by_an_operator_alone_counts_as_its_chain():
    reference = Facts(uses(("aten::mul", "elementwise", 800), ("aten::mean", "reduction", 200)))
    written = OutputOrigin(True, True, False, "kernel"), OutputOrigin(True, False, False, "aten::var")
    found = origin.judge(facts(written, operators=uses(("aten::var", "reduction", 40))), reference, ())
    assert found.problem == "output 1 is aten::var's, 24% of what the reference does; no kernel wrote it"


def test_a_plan_of_places_is_no_heavy_work():
    for name, kind in (("aten::sort(index)", "sort"), ("aten::cumsum(index)", "scan")):
        assert origin.judge(facts(operators=uses((name, kind, 900))), REFERENCE, ()).problem == ""
    found = origin.judge(facts(operators=uses(("aten::sort", "sort", 900))), REFERENCE, ())
    assert "is the kernel's task" in found.problem
    sorting = Facts(uses(("aten::sort(index)", "sort", 1000)))
    found = origin.judge(facts(operators=uses(("aten::sort(index)", "sort", 900))), sorting, ())
    assert found.problem.startswith("aten::sort(index) do 90% of what the reference does")


def test_movement_that_is_the_work_is_named():
    gather = OperatorUse("aten::index", "movement", 1, 1000)
    found = origin.judge(facts(moved=(gather,)), Facts((), moved=(gather,)), ())
    assert found.problem.startswith("aten::index do 100% of what the reference does")


def test_a_library_may_be_allowed_by_name():
    found = facts(device_ns={"ampere_sgemm_64x64": 90, "k": 10})
    assert origin.judge(found, REFERENCE, ()).problem
    assert origin.judge(found, REFERENCE, ("sgemm",)).problem == ""


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [("aten::mm", True), ("mm", True), ("contraction", True), ("aten", True), ("bmm", False), ("m", False),
     ("ten", False), ("aten::m", True), ("elementwise", False)],
)  # fmt: skip
def test_what_an_entry_of_allow_means(entry, allowed):
    assert origin.is_allowed("aten::mm", "contraction", (entry,)) is allowed


def follow(*seen, reference=REFERENCE, allow=()):
    """The check and the figures for calls in which these facts were seen."""
    details = {}
    job = SimpleNamespace(task=Task("t", "function", "", spec=TaskSpec(allow=allow)))
    execution = SimpleNamespace(
        facts=list(seen), traced=[0] * len(seen), task=None, judge=SimpleNamespace(profile=lambda task, case: reference)
    )
    return origin.provenance(job, execution, details), details


def test_a_call_that_cannot_be_followed_says_nothing():
    check, details = follow()
    assert (check.ran, check.ok, details) == (False, True, {})
    check, _ = follow(facts((OutputOrigin(False, False, True, ""),), followed=False))
    assert (check.ran, check.ok) == (False, True)
    check, _ = follow(facts(kernels=()))
    assert (check.ran, check.ok) == (False, True) and "does not say which memory" in check.evidence


def test_the_worst_of_several_calls_decides():
    honest = facts()
    cheat = facts(operators=uses(("aten::mm", "contraction", 1000)))
    for seen in ((honest, cheat), (cheat, honest)):
        check, details = follow(*seen)
        assert (check.ran, check.ok) == (True, False) and "aten::mm do 100%" in check.evidence
        assert details["coverage"] < 0.2
    half = facts(operators=uses(("aten::exp", "elementwise", 1000)))
    check, details = follow(honest, half)
    assert check.ok and details == {"coverage": 0.5}
    assert "2 calls that were followed, and aten::exp on data of the inputs: 50% of the work" in check.evidence
    check, _ = follow(cheat, allow=("mm",))
    assert check.ok


def test_each_call_is_held_against_the_reference_on_its_own_case():
    job = SimpleNamespace(task=Task("t", "function", ""))
    asked = []
    other = facts(operators=uses(("aten::exp", "elementwise", 1000)))
    task = SimpleNamespace(cases=(SimpleNamespace(name="small"), SimpleNamespace(name="large")))

    def profile(given, case):
        asked.append((given, case))
        return other if case else REFERENCE

    fallback = facts(operators=uses(("aten::exp", "elementwise", 990)))
    execution = SimpleNamespace(
        facts=[facts(), fallback], traced=[0, 1], task=task, judge=SimpleNamespace(profile=profile)
    )
    check = origin.provenance(job, execution, {})
    assert sorted(case for _, case in asked) == [0, 1]
    assert (check.ran, check.ok) == (True, False) and check.evidence.startswith("large: aten::exp do 99%")


def cover(defined, *launched, compiled=None):
    """The check and the figures for kernels that a source defines and those that were launched."""
    artifact = Artifact(Target("a", "b"), details={} if defined is None else {"defined": defined})
    stages = (
        Stages()
        if compiled is None
        else Stages(compile=CompileRecord((Artifact(Target("a", "c"), details={"defined": compiled}),)))
    )
    details = {}
    job = SimpleNamespace(stages=stages, artifact=artifact)
    check = origin.coverage(job, [tuple(Launch(name, (1,)) for name in launched)], details)
    return check, details


def test_some_kernel_of_the_source_must_have_been_launched():
    check, details = cover(("f", "g", "h"), "f", "other")
    assert check.ran and check.ok and "1 of 3 kernels launched; never launched: g, h" in check.evidence
    assert details == {"kernels_defined": 3, "kernels_launched": 1}
    check, details = cover(("f", "g"), "other", "ff")
    assert check.ran and not check.ok and "none of its kernels (f, g) is among those launched" in check.evidence
    for defined in (None, (), "f"):
        check, details = cover(defined, "f")
        assert (check.ran, check.ok, details) == (False, True, {})
    check, _ = cover(("f",), "g", compiled=("g",))
    assert check.ok, "what a companion's compile says comes first"


@pytest.mark.parametrize(
    ("defined", "launched", "same"),
    [("f", "f<float>", True), ("f", "f(int)", True), ("f", "f_0d1d", True), ("ns::f", "ns::f", True),
     ("f", "a::f<int>", True), ("f", "fg", False), ("f", "g", False), ("f", "gf", False)],
)  # fmt: skip
def test_names_of_instances_are_those_of_their_kernels(defined, launched, same):
    assert cover((defined,), launched)[0].ok is same
