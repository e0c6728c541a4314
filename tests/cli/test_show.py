import json

import pytest


@pytest.fixture
def recorded(kengine, add, subtract, tmp_path):
    """Two verdicts, one a line."""
    path = tmp_path / "verdicts.jsonl"
    path.write_text(kengine("verify", "--backend", "toy", "--json", add, subtract).out)
    return path


def test_many_are_a_table(kengine, recorded) -> None:
    result = kengine("show", recorded)
    assert result.code == 1
    assert [row.split()[:2] for row in result.out.splitlines()[2:4]] == [
        ["add.py", "passed"],
        ["subtract.py", "wrong_result"],
    ]


def test_one_is_shown_in_full(kengine, recorded, tmp_path) -> None:
    first = json.loads(recorded.read_text().splitlines()[0])
    (tmp_path / "one.json").write_text(json.dumps(first, indent=2))
    result = kengine("show", "one.json")
    assert result.code == 0 and result.out.startswith("passed  add.py  on toy:cpu (emulator)")


def test_full_shows_each(kengine, recorded) -> None:
    out = kengine("show", "--full", recorded).out
    assert "passed  add.py" in out and "wrong_result  subtract.py" in out


def test_stdin(kengine, recorded) -> None:
    assert "2 " not in kengine("show", "-", stdin=recorded.read_text().splitlines()[1]).err
    assert kengine("show", "-", stdin=recorded.read_text().splitlines()[1]).out.startswith("wrong_result  subtract.py")


def test_a_report_of_what_was_recorded(kengine, recorded, tmp_path) -> None:
    assert "report: r.html" in kengine("show", "--html", "r.html", recorded).out
    assert "1 of 2 candidates passed" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ("{", "not JSON"),
        ("\x00", "not JSON"),
        ("[]", "not a verdict"),
        ('{"schema": "kengine.verdict/9"}', "kengine.verdict/9"),
        ('{"schema": "kengine.verdict/1"}', "status"),
    ],
)
def test_what_is_no_verdict(kengine, tmp_path, text, part) -> None:
    (tmp_path / "bad.json").write_text(text)
    for command in ("show", "replay"):
        result = kengine(command, "bad.json")
        assert result.code == 2 and result.out == ""
        assert "bad.json" in result.err and part in result.err and "Traceback" not in result.err


def test_a_bad_line_is_named(kengine, recorded) -> None:
    recorded.write_text(recorded.read_text() + "oops\n")
    result = kengine("show", recorded)
    assert result.code == 2 and "verdicts.jsonl:3: not JSON" in result.err


def test_a_file_that_is_not_there(kengine, recorded) -> None:
    result = kengine("show", "verdict.jsonl")
    assert result.code == 2 and "did you mean verdicts.jsonl?" in result.err


def test_errors_among_verdicts_are_shown(kengine, add, tmp_path) -> None:
    (tmp_path / "bad.py").write_bytes(b"\x00")
    (tmp_path / "v.jsonl").write_text(kengine("verify", "--backend", "toy", "--json", add, "bad.py").out)
    assert "UsageError" in kengine("show", "v.jsonl").out
