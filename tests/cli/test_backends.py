import json


def test_the_list_says_what_each_can_do_and_why_not(kengine) -> None:
    result = kengine("backends")
    assert result.code == 0
    assert "toy  (kernel-engine " in result.out
    row = next(line for line in result.out.splitlines() if line.startswith("toy:cpu"))
    assert row.split()[1:4] == ["yes", "yes", "no"]
    assert "emulator" in row and "no time: " in row
    for name in ("triton", "cuda", "nki", "hip"):
        assert f"\n{name}  (kernel-engine " in "\n" + result.out


def test_only_those_that_are_named(kengine) -> None:
    result = kengine("backends", "toy")
    assert result.code == 0 and "toy:cpu" in result.out and "triton" not in result.out


def test_an_unknown_name(kengine) -> None:
    result = kengine("backends", "toi")
    assert result.code == 2 and result.out == ""
    assert "no backend 'toi'" in result.err and "did you mean 'toy'?" in result.err


def test_json(kengine) -> None:
    result = kengine("backends", "--json")
    assert result.code == 0 and result.err == ""
    lines = {line["backend"]: line for line in map(json.loads, result.out.splitlines())}
    toy = lines["toy"]
    assert toy["schema"] == "kengine.backend/1" and toy["error"] is None
    assert toy["distribution"] == "kernel-engine" and toy["version"]
    (target,) = toy["targets"]
    assert target["target"] == "toy:cpu" and target["emulated"] is True
    assert target["capabilities"] == ["compile", "launch"] and set(target["reasons"]) == {"time"}
