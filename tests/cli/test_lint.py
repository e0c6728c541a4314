import json


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


def test_a_selection_that_names_no_rule_is_told(kengine, add) -> None:
    done = kengine("lint", "--backend", "toy", "--select", "KE9X", "--select", "KE3", add)
    assert done.code == 0
    assert "warning: --select KE9X: no rule of kengine's own has a code that begins so" in done.err
    assert "--select KE3:" not in done.err
