import json

import pytest


def test_nothing_to_find(kengine, add) -> None:
    result = kengine("lint", "--backend", "toy", add)
    assert (result.code, result.err) == (0, "")
    assert "add.py: no findings (" in result.out


def test_json(kengine, add) -> None:
    line = json.loads(kengine("lint", "--backend", "toy", "--json", add).out)
    assert line["schema"] == "kengine.lint/1" and line["findings"] == [] and line["rules"] > 0


def test_nothing_is_executed(kengine, add, tmp_path) -> None:
    add.write_text(add.read_text() + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    kengine("lint", "--backend", "toy", add)
    assert not (tmp_path / "ran").exists()


def test_a_finding_has_its_place_and_makes_the_exit_code(kengine, tmp_path) -> None:
    path = tmp_path / "framework.py"
    path.write_text(
        "import torch\n\ndef make_inputs(seed, device):\n    return (torch.ones(4),)\n\n"
        "def reference(x):\n    return x + x\n\n"
        "def candidate(x):\n    return torch.add(x, x)\n"
    )
    result = kengine("lint", "--backend", "triton", path)
    assert result.code == 1
    assert "framework.py:" in result.out and "reject" in result.out


def test_errors_are_those_of_verify(kengine, kernel) -> None:
    result = kengine("lint", "--backend", "toy", kernel)
    assert result.code == 2 and result.err.startswith("kengine: error: kernel.py: holds no task")


def test_a_code_of_no_rule_is_refused_with_the_nearest(kengine, add) -> None:
    for command in ("lint", "verify"):
        done = kengine(command, "--backend", "toy", "--select", "ke101", add)
        assert done.code == 2
        assert "--select ke101: no lint rule has a code that begins so; did you mean KE101?" in done.err
        done = kengine(command, "--backend", "toy", "--ignore", "NOPE", add)
        assert done.code == 2 and "--ignore NOPE: no lint rule has a code" in done.err and "docs/rules.md" in done.err
    assert kengine("lint", "--backend", "toy", "--select", "KE3", "--ignore", "KE990", add).err == ""


def test_a_selection_that_leaves_no_rule_is_told_once(kengine, add, subtract) -> None:
    done = kengine("verify", "--backend", "toy", "-q", "--ignore", "K", add, subtract)
    assert done.code == 1 and done.err.count("--ignore K: none of the ") == 1 and "rules for toy is left" in done.err
    assert done.err.startswith("kengine: warning: ")


def test_a_code_of_another_backend_is_known(kengine, add, tmp_path) -> None:
    (tmp_path / "kengine.toml").write_text('ignore = ["KT101"]\n')
    assert kengine("lint", "--backend", "toy", add).err == ""
    (tmp_path / "kengine.toml").write_text('ignore = ["KQ101"]\n')
    assert "ignore of the configuration KQ101: no lint rule" in kengine("lint", "--backend", "toy", add).err


def test_what_does_not_parse_is_told_with_its_line(kengine, task, tmp_path) -> None:
    (tmp_path / "bad.py").write_text("import numpy\n\n\ndef candidate(x:\n    return x\n")
    done = kengine("lint", "--backend", "toy", "--task", task, "bad.py")
    assert done.code == 1 and done.out.startswith("bad.py:4: compile_failed: syntax error: ") and done.err == ""
    line = json.loads(kengine("lint", "--backend", "toy", "--task", task, "bad.py", "--json").out)
    assert line["findings"] == [] and line["fault"]["status"] == "compile_failed" and line["fault"]["line"] == 4
    (tmp_path / "few.py").write_text("def candidate():\n    return 1\n")
    done = kengine("lint", "--backend", "toy", "--task", task, "few.py")
    assert done.code == 1 and "few.py:1: launch_failed: candidate takes 0 arguments" in done.out


def test_rules_of_the_backend_are_counted(kengine, task, kernel) -> None:
    pytest.importorskip("kengine_triton")
    counts = []
    for select in ("KE", "KT", "K"):
        done = kengine("lint", "--backend", "triton", "--task", task, kernel, "--select", select, "--json")
        counts.append(json.loads(done.out)["rules"])
    assert 0 < counts[1] < counts[0] and counts[2] == counts[0] + counts[1]
