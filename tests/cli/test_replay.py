import json


def test_the_same_again_stage_by_stage(kengine, add, subtract, tmp_path) -> None:
    (tmp_path / "v.jsonl").write_text(kengine("verify", "--backend", "toy", "--json", add, subtract).out)
    result = kengine("replay", "v.jsonl")
    assert (result.code, result.err) == (0, "")
    for stage in ("status", "lint", "compile", "launch", "compare", "integrity", "time", "outputs"):
        assert sum(line.split()[:2] == [stage, "same"] for line in result.out.splitlines()) >= 1, result.out
    assert "different" not in result.out


def test_the_recorded_seeds_are_drawn_again(kengine, add, tmp_path) -> None:
    line = kengine("verify", "--backend", "toy", "--json", add).out
    (tmp_path / "v.json").write_text(line)
    again = json.loads(kengine("replay", "--json", "v.json").out)
    assert again["schema"] == "kengine.replay/1" and again["same"] is True
    assert again["stages"]["outputs"] == {"same": True, "text": again["stages"]["outputs"]["text"]}
    assert again["stages"]["outputs"]["text"].endswith("bit for bit")


def test_what_differs_is_said(kengine, add, tmp_path) -> None:
    verdict = json.loads(kengine("verify", "--backend", "toy", "--json", add).out)
    verdict["status"] = "wrong_result"
    verdict["stages"]["compare"]["comparisons"][0]["error_ratio"] = 7.5
    (tmp_path / "v.json").write_text(json.dumps(verdict))
    result = kengine("replay", "v.json")
    assert result.code == 1
    assert "wrong_result then, passed now" in result.out
    assert any(line.split()[:2] == ["compare", "different"] for line in result.out.splitlines())


def test_a_target_that_is_not_here(kengine, add, tmp_path) -> None:
    verdict = json.loads(kengine("verify", "--backend", "toy", "--json", add).out)
    (tmp_path / "v.json").write_text(json.dumps({**verdict, "target": "toy:gpu"}))
    result = kengine("replay", "v.json")
    assert result.code == 2 and "unknown target toy:gpu" in result.err
