"""Values that are not ordinary: NaN, infinities, bools, empty arrays, scalars beside arrays, bytes that are no bool."""

from __future__ import annotations

import math

import pytest
from kengine.judge import compare

torch = pytest.importorskip("torch")

HEAD = """
import torch
def make_inputs(seed, device):
    return [torch.randn(8, 32, generator=torch.Generator(device).manual_seed(seed), device=device)]
"""


def reference(body):
    return HEAD + f"def reference(x):\n    return {body}\n"


def finite(comparison):
    values = (comparison.error_ratio, comparison.max_abs_err, comparison.allowed)
    return all(v is None or math.isfinite(v) for v in values)


def test_nan_and_infinity_must_stand_where_they_are_expected(bench, make_task):
    bench.open(make_task(reference("torch.sqrt(x)")), cases=1)
    assert bench.run(lambda x: torch.sqrt(x)).ok
    c = bench.run(lambda x: torch.nan_to_num(torch.sqrt(x)))
    assert not c.ok and c.nonfinite == c.wrong > 0 and c.worst.expected == "nan" and c.worst.got == "0.0" and finite(c)
    c = bench.run(lambda x: torch.full_like(x, float("nan")))
    assert not c.ok and c.worst.got == "nan" and finite(c)
    bench.open(make_task(reference("torch.log(torch.relu(x))")), cases=1)
    assert bench.run(lambda x: torch.log(torch.relu(x))).ok
    assert not bench.run(lambda x: -torch.log(torch.relu(x))).ok
    c = bench.run(lambda x: torch.log(torch.relu(x)).clamp(min=-3e38))
    assert not c.ok and c.worst.expected == "-inf" and finite(c)


@pytest.mark.parametrize(("stands_for_it", "got"), [(float("inf"), "inf"), (float("nan"), "nan")])
def test_an_infinity_is_told_from_one_of_the_other_sign_and_from_nan(bench, make_task, stands_for_it, got):
    bench.open(make_task(reference("torch.log(torch.relu(x))")), cases=1)
    c = bench.run(lambda x: torch.where(x > 0, torch.log(torch.relu(x)), stands_for_it))
    assert not c.ok and c.wrong == c.nonfinite > 0 and (c.worst.expected, c.worst.got) == ("-inf", got)


def test_nan_is_told_from_an_infinity(bench, make_task):
    bench.open(make_task(reference("torch.sqrt(x)")), cases=1)
    c = bench.run(lambda x: torch.where(x >= 0, torch.sqrt(x), float("inf")))
    assert not c.ok and c.wrong == c.nonfinite > 0 and (c.worst.expected, c.worst.got) == ("nan", "inf")


def test_both_parts_of_a_complex_number_count_where_one_is_not_finite(bench, make_task):
    bench.open(make_task(reference("torch.complex(torch.log(torch.relu(x)), x)")), cases=1)
    assert bench.run(lambda x: torch.complex(torch.log(torch.relu(x)), x)).ok
    c = bench.run(lambda x: torch.complex(torch.log(torch.relu(x)), torch.where(x > 0, x, x + 1)))
    assert not c.ok and c.wrong == c.nonfinite > 0
    c = bench.run(lambda x: torch.complex(torch.log(torch.relu(x)).abs(), x))
    assert not c.ok and c.nonfinite > 0
    assert bench.run(lambda x: torch.complex(torch.log(torch.relu(x)), x * (1 + 2e-7))).ok, "rounded otherwise"
    assert not bench.run(lambda x: torch.complex(torch.log(torch.relu(x)), x * (1 + 1e-3))).ok


def test_an_integer_that_float64_changes_is_right_either_way(bench, make_task):
    bench.open(make_task(reference("((x + 1e8) - 1e8).round().to(torch.int32)")), cases=1)
    own = lambda x: ((x + 1e8) - 1e8).round().to(torch.int32)  # noqa: E731
    wide = lambda x: x.double().round().to(torch.int32)  # noqa: E731
    x = bench.lend(0)[0].args[0]
    assert not torch.equal(own(x), wide(x))
    for right in (own, wide):
        assert bench.run(right).ok
        c = bench.run(lambda x, right=right: right(x) + 100)
        assert not c.ok and c.wrong == 256


def test_non_finite_answers_can_be_ruled_out(bench, make_task):
    from kengine.model import Tolerance

    bench.open(make_task(reference("torch.sqrt(x)"), tolerance=Tolerance(nan_equal=False)), cases=1)
    assert not bench.run(lambda x: torch.sqrt(x)).ok


def test_overflow_in_the_own_precision_may_go_either_way(bench, make_task):
    source = HEAD.replace("], device", "]").replace("device=device)]", "device=device).half() * 300]")
    bench.open(make_task(source + "def reference(x):\n    return x * x\n"), cases=1)
    assert bench.opened["ok"], bench.opened
    assert bench.run(lambda x: x * x).ok
    assert not bench.run(lambda x: torch.nan_to_num(x * x, posinf=1.0)).ok


def test_bool_is_exact_and_a_byte_of_two_is_no_bool(bench, make_task):
    bench.open(make_task(reference("x > 0")), cases=1, screen=True)
    assert bench.opened["ok"], bench.opened
    assert bench.run(lambda x: x > 0).ok
    c = bench.run(lambda x: (x > 0).logical_xor(torch.arange(32) == 3))
    assert c.wrong == 8 and c.max_abs_err == 1.0 and c.where == "in every row: column 3"
    (lent,) = bench.lend(0)
    trees = lent.describe([lent.args[0] > 0])
    at = lent.bundle["sinks"][0]["at"]
    lent.view[at] = 2
    c = bench.compare(0, trees)["comparison"]
    assert not c["ok"] and c["worst"]["got"] == "byte 2"


def test_empty_and_scalar_outputs(bench, make_task):
    bench.open(make_task(reference("(x[:, :0], x.sum(), x.sum().item(), None, 'a')")), cases=1)
    assert bench.opened["ok"], bench.opened
    right = lambda x: (x[:, :0], x.sum(), x.sum().item(), None, "a")  # noqa: E731
    assert bench.run(right).ok
    assert "is 1.5, expected" in bench.run(lambda x: (x[:, :0], x.sum(), 1.5, None, "a")).problem
    assert "is 'b', expected 'a'" in bench.run(lambda x: (x[:, :0], x.sum(), x.sum().item(), None, "b")).problem
    assert "is a int, expected None" in bench.run(lambda x: (x[:, :0], x.sum(), x.sum().item(), 0, "a")).problem
    c = bench.run(lambda x: (x[:, :0], x.sum() * 1.01, x.sum().item(), None, "a"))
    assert c.wrong == 1 and c.worst.output == 1 and c.worst.index == () and "of output 1" in c.problem


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("(x * 2, x.sum().item())", lambda x: (x * 2, x.sum().item() * 1.0001)),
        ("(x * 2, float('nan'))", lambda x: (x * 2, 1.0)),
        ("(x * 2, 1.0)", lambda x: (x * 2, float("nan"))),
        ("(x * 2, float('inf'))", lambda x: (x * 2, -float("inf"))),
        ("(x * 2, 1 + 2j)", lambda x: (x * 2, 1 - 2j)),
        ("(x * 2, True)", lambda x: (x * 2, False)),
        ("(x * 2, True)", lambda x: (x * 2, 1)),
        ("{'y': x * 2, 'n': 3}", lambda x: {"y": x * 2, "n": 4}),
        ("[x * 2, [3, 'a']]", lambda x: [x * 2, [3, "b"]]),
    ],
)
def test_numbers_and_words_beside_an_array_count(bench, make_task, body, wrong):
    bench.open(make_task(reference(body)), cases=1)
    assert bench.run(eval(f"lambda x: {body}")).ok
    c = bench.run(wrong)
    assert not c.ok and "expected" in c.problem, c


def test_several_outputs_in_a_dict_report_the_worst(bench, make_task):
    bench.open(make_task(reference("{'a': x * 2, 'b': [x + 1]}")), cases=1, screen=True)
    assert bench.run(lambda x: {"b": [x + 1], "a": x * 2}).ok, "the order of keys means nothing"
    assert not bench.run(lambda x: {"b": [x * 2], "a": x + 1}).ok
    assert bench.run(lambda x: {"a": x * 2, "b": [x + 1]}).ok
    c = bench.run(lambda x: {"a": x * 2.5, "b": [x + 5]})
    assert c.worst.output == 1 and c.wrong == 2 * 8 * 32
    assert "has the keys ['a'], expected ['a', 'b']" in bench.run(lambda x: {"a": x}).problem


def test_zeros_in_give_zeros_out_with_room_for_an_approximation(bench, make_task):
    bench.open(make_task(reference("torch.sigmoid(x) - 0.5"), cases=[{"name": "z", "values": "zeros"}]))
    assert bench.opened["ok"] and bench.opened["skipped"] == {}, bench.opened
    assert bench.run(lambda x: torch.sigmoid(x) - 0.5 + 3e-8).ok
    assert not bench.run(lambda x: torch.sigmoid(x) - 0.5 + 1e-5).ok


def test_a_task_may_name_its_own_tolerance(bench, make_task):
    from kengine.model import Tolerance

    bench.open(make_task(reference("x * 2"), tolerance=Tolerance(rtol=1e-2)), cases=1, screen=True)
    assert bench.opened["ok"], bench.opened
    c = bench.run(lambda x: x * 2.015)
    assert c.ok and c.error_ratio == pytest.approx(0.75, rel=0.01)
    c = bench.run(lambda x: x * 2.0202)
    assert not c.ok and c.wrong > 50 and 1 < c.error_ratio < 1.02
    assert not bench.run(lambda x: x * 2.05).ok


def test_the_sentence_has_all_that_a_person_needs(bench, make_task):
    bench.open(make_task(reference("x * 2")), cases=1)

    def wrong(x):
        y = x * 2
        y[4:, 16:] = 7
        return y

    c = bench.run(wrong)
    assert c.wrong == 64 and c.total == 256
    assert c.problem.startswith("64 of 256 elements are wrong; worst at [")
    for part in ("expected ", "got 7.0", "allowed error ", "one tile: rows 4 to 7, columns 16 to 31 (4 x 16)"):
        assert part in c.problem
    assert c.worst.index[0] >= 4 and c.error_ratio > 100 and c.max_abs_err > 1 and finite(c)


def test_a_digest_that_nobody_wants_is_not_made(bench, make_task, monkeypatch):
    bench.open(make_task(reference("x * 2")))
    (lent,) = bench.lend(0)
    body = {"task_id": bench.opened["task_id"], "case": 0, "phase": "check", "holder": "r1"}
    body["outputs"] = lent.describe([lent.args[0] * 2])
    with_digest, _ = bench.ask("compare", **body)
    monkeypatch.setattr(compare, "digest", lambda copies: pytest.fail("made"))
    without, _ = bench.ask("compare", **body, digest=False)
    assert len(with_digest["digest"]) == 64 and without["digest"] == ""
    assert with_digest["comparison"] == without["comparison"] and without["comparison"]["ok"]


def test_digest_is_of_the_bytes(bench, make_task):
    bench.open(make_task(reference("x * 2")), cases=1)
    digests = []
    for factor in (2, 2, 3):
        (lent,) = bench.lend(0)
        digests.append(bench.compare(0, lent.describe([lent.args[0] * factor]))["digest"])
    assert digests[0] == digests[1] != digests[2] and len(digests[0]) == 64


def test_digest_tells_where_one_output_ends_and_the_next_begins():
    import numpy as np
    from kengine.judge.compare import digest

    one, two = np.array([1, 2, 3], np.uint8), np.array([4], np.uint8)
    joined, shifted = np.concatenate([one, two]), np.array([3, 4], np.uint8)
    assert len({digest(copies) for copies in ([one, two], [joined], [one[:2], shifted], [two, one], [one])}) == 5


def test_sinks_are_poisoned_again_for_every_lend(bench, make_task):
    bench.open(make_task(reference("x * 2")), cases=1)
    assert bench.run(lambda x: x * 2).ok
    (lent,) = bench.lend(0)
    for place in lent.bundle["sinks"]:
        assert set(bytes(lent.view[place["at"] : place["at"] + place["nbytes"]])) == {0xFF}
    assert all(torch.isnan(d).all() for d in lent.destination)
    assert [tuple(d.shape) for d in lent.destination] == [(8, 32)]


@pytest.mark.parametrize(
    "body", ["(x @ x.T).masked_fill(m > 0, -1e9)", "x @ x.T + m * -1e9", "x @ x.T - (1 - m) * 1e9"]
)
def test_a_mask_does_not_hide_the_elements_between_it(bench, make_task, body):
    source = f"""
import torch
def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    return [torch.randn(32, 64, generator=g), (torch.rand(32, 32, generator=g) > 0.5).float()]
def reference(x, m):
    return {body}
"""
    bench.open(make_task(source), cases=1, screen=True)
    assert bench.opened["ok"], bench.opened
    right = eval(f"lambda x, m: {body}", {"torch": torch})
    assert bench.run(right).ok
    c = bench.run(lambda x, m: torch.where(right(x, m) < -1e8, right(x, m), right(x, m) * 1.01))
    assert not c.ok and c.wrong > 300, c
