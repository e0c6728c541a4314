from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine import codec
from kengine.codec import CodecError
from kengine.config import Plan
from kengine.errors import UsageError
from kengine.model import (
    Artifact,
    Candidate,
    Case,
    Comparison,
    Finding,
    KernelResources,
    LaunchRecord,
    LintRecord,
    SourceFile,
    Status,
    Target,
    TargetInfo,
    TaskSpec,
    Timing,
    Verdict,
)

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    return codec.loads((GOLDEN / "verdict-1.json").read_bytes(), Verdict)


FINDING = {"code": "KE101", "severity": "warn", "message": "m"}


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ({"findings": [{**FINDING, "line": 3.0}]}, LintRecord, "LintRecord.findings[0].line: want int, got float"),
        ({"findings": [{**FINDING, "line": True}]}, LintRecord, "LintRecord.findings[0].line: want int, got bool"),
        ({"rules": "3"}, LintRecord, "LintRecord.rules: want int, got str"),
        ({"rules": None}, LintRecord, "LintRecord.rules: want int, got null"),
        ({"rules": 1 << 64}, LintRecord, "LintRecord.rules: want an int of at most 64 bits, got a larger one"),
        ({"rules": -(1 << 63) - 1}, LintRecord, "LintRecord.rules: want an int of at most 64 bits, got a larger one"),
        ({"findings": {}}, LintRecord, "LintRecord.findings: want array, got object"),
        ({"findings": [[]]}, LintRecord, "LintRecord.findings[0]: want object, got array"),
        ({"ignored": ["KE1", 2]}, LintRecord, "LintRecord.ignored[1]: want str, got int"),
        ([], LintRecord, "LintRecord: want object, got array"),
        ({"findngs": []}, LintRecord, "LintRecord: unknown key 'findngs' (did you mean 'findings'?)"),
        ({"zzz": 1}, LintRecord, "LintRecord: unknown key 'zzz' (known keys: findings, rules, ignored)"),
        ({"code": "a", "severity": "warn"}, Finding, "Finding.message: missing, and it has no default"),
        ({**FINDING, "severity": "fatal"}, Finding, "Finding.severity: want one of 'reject', 'warn', got 'fatal'"),
        ({**FINDING, "severity": 1}, Finding, "Finding.severity: want one of 'reject', 'warn', got int"),
        ({"name": "k", "occupancy": "1"}, KernelResources, "KernelResources.occupancy: want float, got str"),
        ({"name": "k", "occupancy": True}, KernelResources, "KernelResources.occupancy: want float, got bool"),
        ({"name": "k", "occupancy": (1 << 53) + 1}, KernelResources,
         "KernelResources.occupancy: want float, got an int that no float holds exactly"),
        ({"name": "k", "occupancy": float("inf")}, KernelResources,
         "KernelResources.occupancy: want a finite float, got inf"),
        ({"name": "k", "details": {"a": [1, {"b": float("nan")}]}}, KernelResources,
         "KernelResources.details['a'][1]['b']: want a finite float, got nan"),
        ({"name": "k", "details": {1: 2}}, KernelResources, "KernelResources.details[1]: want str for a key, got int"),
        ({"target": 5}, Artifact, "Artifact.target: want str, got int"),
        ({"target": "sm_90"}, Artifact, "Artifact.target: target 'sm_90' is not of the form BACKEND:ARCH"),
        ({"timeout_s": "soon"}, TaskSpec, "TaskSpec.timeout_s: want float, got str"),
        ({"schema": "kengine.plan/1"}, LintRecord,
         "LintRecord.schema: want 'kengine.lint_record/1', got 'kengine.plan/1'"),
        ({"cases": 0}, Plan, "Plan: cases: want a number above 0, got 0"),
    ],
)  # fmt: skip
def test_refused_with_its_path(value, kind, message):
    with pytest.raises(CodecError) as caught:
        codec.from_json(value, kind)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, UsageError)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (LintRecord(rules=True), "LintRecord.rules: want int, got bool"),
        (LintRecord(findings=[]), "LintRecord.findings: want tuple, got array"),
        (LintRecord(findings=(FINDING,)), "LintRecord.findings[0]: want Finding, got object"),
        (Comparison("c", True, error_ratio=float("nan")), "Comparison.error_ratio: want a finite float, got nan"),
        (Finding("c", "fatal", "m"), "Finding.severity: want one of 'reject', 'warn', got 'fatal'"),
        (Artifact("triton:sm_90"), "Artifact.target: want Target, got str"),
        (
            Artifact(Target("A", "b c")),
            "Artifact.target: target 'A:b c' is not of the form BACKEND:ARCH (for instance "
            "triton:sm_90 or nki:sim); `kengine backends` lists what is installed",
        ),
        (Artifact(Target("a", "b"), details={"x": object()}), "Artifact.details['x']: want a JSON value, got object"),
        (Artifact(Target("a", "b"), details=None), "Artifact.details: want mapping, got null"),
        (Timing((1, 2.5), "wall"), "Timing.samples_ns[1]: want int, got float"),
    ],
)
def test_a_record_that_lies_about_its_types_is_not_written(record, message):
    with pytest.raises(CodecError) as caught:
        codec.to_json(record)
    assert str(caught.value) == message


def test_numpy_scalars_are_named():
    np = pytest.importorskip("numpy")
    with pytest.raises(CodecError, match=r"KernelResources.occupancy: want float, got numpy.float64"):
        codec.to_json(KernelResources("k", occupancy=np.float64(0.5)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "LintRecord: not JSON text"),
        ("{", "LintRecord: not JSON text"),
        (b"\xff\xfe\x00", "LintRecord: not JSON text"),
        ("[" * 200_000, "LintRecord: not JSON text"),
        ("3", "LintRecord: want an object, got int"),
        ("{}", "LintRecord: missing key 'schema', want 'kengine.lint_record/1'"),
        ('{"schema":"kengine.lint_record/2"}',
         "LintRecord.schema: want 'kengine.lint_record/1', got 'kengine.lint_record/2'"),
        ('{"schema":"kengine.lint_record/1","rules":NaN}', "LintRecord: NaN is not JSON"),
        ('{"schema":"kengine.lint_record/1","rules":-Infinity}', "LintRecord: -Infinity is not JSON"),
        ('{"schema":"kengine.lint_record/1","rules":1,"rules":2}', "LintRecord: key 'rules' stands twice"),
        ('{"schema":"kengine.lint_record/1","rules":' + "9" * 5000 + "}", "LintRecord"),
    ],
)  # fmt: skip
def test_refused_text(text, message):
    with pytest.raises(CodecError) as caught:
        codec.loads(text, LintRecord)
    assert str(caught.value).startswith(message)


def test_a_record_of_another_version_is_refused(monkeypatch):
    first = codec.dumps(LintRecord(rules=3))
    monkeypatch.setattr(codec, "VERSIONS", {"LintRecord": 2})
    second = codec.dumps(LintRecord(rules=3))
    assert second == first.replace("lint_record/1", "lint_record/2")
    assert codec.loads(second, LintRecord) == LintRecord(rules=3)
    with pytest.raises(CodecError, match=r"want 'kengine.lint_record/2', got 'kengine.lint_record/1'"):
        codec.loads(first, LintRecord)


def test_the_smallest_and_the_largest_integers_are_kept():
    for number in (-(1 << 63), (1 << 64) - 1):
        assert codec.loads(codec.dumps(LintRecord(rules=number)), LintRecord).rules == number


def test_an_overflowing_literal_is_refused():
    with pytest.raises(CodecError, match=r"KernelResources.occupancy: want a finite float, got inf"):
        codec.loads('{"schema":"kengine.kernel_resources/1","name":"k","occupancy":1e999}', KernelResources)


def test_deep_values_are_refused_both_ways():
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CodecError, match="nested too deeply"):
        codec.from_json({"details": {"x": deep}}, LaunchRecord)
    with pytest.raises(CodecError, match="nested too deeply"):
        codec.to_json(LaunchRecord(details={"x": deep}))


def test_a_float_takes_an_exact_int_and_stays_a_float():
    spec = codec.from_json({"timeout_s": 5}, TaskSpec)
    assert type(spec.timeout_s) is float
    assert codec.to_json(TaskSpec(timeout_s=5))["timeout_s"] == 5.0
    assert '"timeout_s":5.0' in codec.dumps(TaskSpec(timeout_s=5))


def test_text_form():
    text = codec.dumps(LintRecord((Finding("KE1", "warn", "é\n"),)))
    assert text == (
        '{"schema":"kengine.lint_record/1","findings":[{"code":"KE1","severity":"warn","message":"\\u00e9\\n",'
        '"path":"","line":0,"column":0}],"rules":0,"ignored":[]}'
    )
    assert codec.loads(text, LintRecord) == codec.loads(text.encode(), LintRecord)
    assert "\n" in codec.dumps(LintRecord(), indent=2)
    assert "schema" not in codec.to_json(LintRecord())


def test_lists_in_json_values_read_back_as_tuples():
    written = codec.to_json(LaunchRecord(details={"grid": [1, (2, None)]}))
    assert codec.from_json(written, LaunchRecord).details == {"grid": (1, (2, None))}


@pytest.mark.parametrize(
    ("record", "schema"),
    [(Verdict, "kengine.verdict/1"), (TargetInfo, "kengine.target_info/1"), (SourceFile, "kengine.source_file/1")],
)
def test_schema_ids(record, schema):
    assert codec.schema_id(record) == schema


def test_types_that_records_may_not_have():
    @dataclass(frozen=True)
    class Odd:
        value: bytes

    with pytest.raises(TypeError, match="cannot have a field of type <class 'bytes'>"):
        codec.to_json(Odd(b""))
    with pytest.raises(TypeError, match="want a record"):
        codec.to_json({"a": 1})
    with pytest.raises(TypeError, match="want a record"):
        codec.from_json("triton:sm_90", Target)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(params=st.dictionaries(st.text(), _JSON, max_size=4), name=st.text(), draw=st.integers(0, 1 << 40))
def test_what_is_written_reads_back_equal(params, name, draw):
    case = Case(name, params, draw=draw)
    assert codec.loads(codec.dumps(case), Case) == case


@given(st.dictionaries(st.sampled_from(["findings", "rules", "ignored", "schema", "x"]), _JSON))
def test_anything_else_is_refused_and_nothing_crashes(value):
    value = json.loads(json.dumps(value))
    try:
        record = codec.from_json(value, LintRecord)
    except CodecError:
        return
    assert codec.from_json(codec.to_json(record), LintRecord) == record


def test_text_with_stray_surrogates_survives():
    candidate = Candidate((SourceFile("a.py", "x = '\udc80'\n"),), "x")
    assert codec.loads(codec.dumps(candidate), Candidate) == candidate


def test_statuses_are_members(verdict):
    assert verdict.status is Status.passed
    with pytest.raises(CodecError, match=r"Verdict.status: want Status, got str"):
        codec.to_json(replace(verdict, status="passed"))


def test_bytes_that_are_no_text_are_refused_and_not_mended():
    assert codec.loads(b'{"schema":"kengine.source_file/1","path":"a\xc3\xa9","text":""}', SourceFile).path == "a\u00e9"
    with pytest.raises(CodecError, match="SourceFile: not JSON text: 'utf-8' codec can't decode byte 0xff"):
        codec.loads(b'{"schema":"kengine.source_file/1","path":"a\xff","text":""}', SourceFile)
