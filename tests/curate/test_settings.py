"""curate.toml: what it says, and errors with file, line, key and what is allowed."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from kengine.config import ConfigError
from kengine.curate import settings
from kengine.curate.settings import STAGES, Source

GOOD = """
out = "there"
jobs = 3
seed = 5

[[source]]
path = "a.jsonl"

[[source]]
path = "b"
name = "second"
license = "MIT"

[parse]
truncated = "drop"

[reject]
targets = ["triton:interpret"]
compile_for = ["triton:gfx942"]
launch-timeout-s = 5
"""


def read(text: str) -> settings.Settings:
    return settings.parse(text, Path("/x/curate.toml"))


def test_what_a_file_says() -> None:
    made = read(GOOD)
    assert (made.out, made.jobs, made.seed) == (Path("/x/there"), 3, 5)
    assert made.sources == (Source("a.jsonl", "a.jsonl"), Source("b", "second", license="MIT"))
    assert made.stages == ("load", "parse", "reject", "export")
    assert made.section("parse").truncated == "drop" and made.section("parse").bare is True
    assert made.section("reject").compile_for == ("triton:gfx942",) and made.section("reject").launch_timeout_s == 5.0
    assert made.section("export").formats == ("messages",)


def test_the_order_of_stages_may_be_given() -> None:
    text = 'stages = ["load", "parse", "augment", "reject", "export"]\n' + GOOD + "[augment]\n"
    assert read(text).stages == ("load", "parse", "augment", "reject", "export")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (
            "truncated =",
            "trunkated =",
            15,
            r"parse\.trunkated: unknown key; did you mean 'truncated'\? allowed: truncated, bare",
        ),
        ('"drop"', "3", 15, r"parse\.truncated: want str, got int"),
        ('"drop"', '"keeep"', 15, r"parse\.truncated: 'keeep' is not known; allowed: keep, drop"),
        ("[parse]", "[parze]", 14, r"parze: unknown key; did you mean 'parse'\? allowed: out, jobs"),
        ("jobs = 3", 'jobs = "3"', 3, r"jobs: want a whole number of at least 1, got str '3'"),
        ("jobs = 3", "jobs = 0", 3, r"jobs: want a whole number"),
        ("seed = 5", "seed = 1.5", 4, r"seed: want a whole number, got float"),
        ('out = "there"', "out = 1", 2, r"out: want the path of a folder"),
        ('path = "b"', "path = 7", 10, r"source\[1\]\.path: want str, got int"),
        ('path = "b"', "", 9, r"source\[1\]\.?\w*: missing"),
        ('name = "second"', 'name = "a.jsonl"', 11, r"source\[1\]\.name: a second source is called 'a\.jsonl'"),
        ('license = "MIT"', 'role = "both"', 12, r"source\[1\]\.role: 'both' is not known; allowed: candidates, tasks"),
        ('license = "MIT"', "limit = 0", 12, r"source\[1\]\.limit: want at least 1"),
        ('["triton:interpret"]', '["triton interpret"]', 18, r"reject\.targets: 'triton interpret' is neither"),
        ("launch-timeout-s = 5", "launch-timeout-s = -1", 20, r"reject\.launch_timeout_s: want a number above 0"),
        ('["triton:gfx942"]', '["gfx942"]', 19, r"reject\.compile_for: .*gfx942"),
        ("launch-timeout-s = 5", "limits = 5", 20, r"reject\.limits: want object, got int"),
        ("[parse]", "[balance]\nweights = { backend = 2 }\n[parse]", 15, r"balance\.weights\['backend'\]: want object"),
        ("[parse]", "[balance.weights]\nbackend = 2\n[parse]", 15, r"balance\.weights\['backend'\]: want object"),
        ("[parse]", "[export.splits]\ntrain = 'x'\n[parse]", 15, r"export\.splits\['train'\]: want float, got str"),
        ("[parse]", "[balance]\ncaps = { source = -1 }\n[parse]", 15, r"balance\.caps: source: want a number of rows"),
        ("[parse]", "[curriculum]\nschedule = [[1], []]\n[parse]", 15, r"curriculum\.schedule: a phase takes no value"),
        ("[parse]", "[curriculum]\nschedule = [1]\n[parse]", 15, r"curriculum\.schedule\[0\]: want array, got int"),
        ("[parse]", "[difficulty]\neasy = 2\n[parse]", 15, r"difficulty\.easy: want a pass rate from 0 to 1"),
        ("[parse]", "[report]\nfolder = '../x'\n[parse]", 15, r"report\.folder: want the name of a folder"),
        ("seed = 5", "seed = = 5", 4, r"not TOML"),
        ("[parse]", "[parse\n", 14, r"not TOML"),
    ],
)
def test_errors_name_file_line_key_and_what_is_allowed(old: str, new: str, line: int, said: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(ConfigError, match=rf"^/x/curate\.toml:{line}: .*{said}"):
        read(text)


def test_errors_of_stages() -> None:
    with pytest.raises(ConfigError, match=r":1: stages: no stage 'rejekt'; did you mean 'reject'\? allowed: load"):
        read('stages = ["load", "rejekt"]\n[[source]]\npath = "a"\n')
    with pytest.raises(ConfigError, match=r":4: reject: has a table, but `stages` does not name it"):
        read('stages = ["load", "parse"]\n[[source]]\npath = "a"\n[reject]\n')
    with pytest.raises(ConfigError, match="want at least one"):
        read("[parse]\n")
    with pytest.raises(ConfigError, match="no such file, expected the settings"):
        settings.read(Path("/nowhere/curate.toml"))


def test_a_fingerprint_tells_what_decides_about_rows() -> None:
    first = read(GOOD).fingerprint()
    assert read(GOOD.replace("jobs = 3", "jobs = 4")).fingerprint() == first
    assert read(GOOD + '[export]\nformats = ["hf"]\n').fingerprint() == first
    changed = read(GOOD.replace('"drop"', '"keep"')).fingerprint()
    assert {k for k in first if first[k] != changed[k]} == {"parse"}
    endpoint = GOOD + '[sample]\nmodel = "m"\nk = 2\n'
    first = read(endpoint).fingerprint()
    assert read(endpoint + 'url = "http://other/v1"\nretries = 9\nconcurrency = 2\n').fingerprint() == first
    assert read(endpoint + "temperature = 0.5\n").fingerprint() != first


@pytest.mark.parametrize("stage", [
    "sample", "parse", "reject", "difficulty", "balance", "curriculum", "augment", "export", "report"
])  # fmt: skip
def test_every_key_is_explained(stage: str) -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "curate.md").read_text()
    part = text.partition(f"### [{stage}]")[2].partition("\n##")[0]
    keys = set(re.findall(r"`(\w+)`", part))
    hidden = {"presence_penalty", "frequency_penalty"}
    missing = {f.name for f in dataclasses.fields(STAGES[stage].record())} - keys - hidden
    assert not missing


def test_every_format_is_listed() -> None:
    from kengine.curate.loaders import FORMATS

    text = (Path(__file__).resolve().parents[2] / "docs" / "curate.md").read_text()
    assert all(f"`{name}`" in text for name in FORMATS)


def test_every_stage_of_this_package_has_a_table_with_defaults() -> None:
    here = [
        name
        for name, entry in STAGES.items()
        if (Path(settings.__file__).parent / f"{entry.module.split('.')[-1]}.py").exists()
        or (Path(settings.__file__).parent / entry.module.split(".")[-1]).is_dir()
    ]
    ours = {"load", "sample", "parse", "reject", "difficulty", "balance", "curriculum", "augment", "export", "report"}
    assert ours <= set(here)
    for name in here:
        assert STAGES[name].record()() is not None


RUN = """out = "o"
[[source]]
path = "rows.jsonl"
{source}
[reject]
targets = [
  "toy:cpu",
  {target},
]
{more}
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": '"toy:cup"'}, r":8: reject\.targets: 'toy:cup': unknown target toy:cup.* the backend 'toy' has: toy:cpu"),  # noqa: E501
        ({"target": "'tyo:cpu'"}, r":8: reject\.targets: 'tyo:cpu': no backend 'tyo' is installed; installed backends: .*toy"),  # noqa: E501
        ({"more": 'compile_for = ["toy:x9"]'}, r":10: reject\.compile_for: 'toy:x9': unknown target"),
        ({"more": 'select = ["KE10"]\nignore = ["KQ1"]'}, r":11: reject\.ignore: 'KQ1': no lint rule has a code that"),
        ({"more": '[augment]\nvariants = 1\ntargets = ["toy:x9"]'}, r":12: augment\.targets: 'toy:x9': unknown target"),
        ({"more": '[augment]\nreasoning = "ask"'}, r":11: augment\.reasoning: \"ask\" needs a table \[sample\]"),
        ({"more": '[sample]\nreplay = "no.jsonl"'}, r":11: sample\.replay: .*no\.jsonl: no such file"),
        ({"more": "[sample]\nk = 2"}, r":10: sample: names neither a file to `replay` nor a `model`"),
        ({"source": 'tasks = "nowhere"'}, r":4: source\[0\]\.tasks: source rows\.jsonl: .*nowhere: no such file or folder"),  # noqa: E501
        ({"source": 'format = "gpu-mode"'}, r":4: source\[0\]\.format: source rows\.jsonl: .*is not of the format 'gpu-mode'"),  # noqa: E501
        ({"more": '[decontaminate]\nbenchmark = [\n {path = "rows.jsonl"},\n {path = "no"},\n]'},
         r":13: decontaminate\.benchmark\[1\]: .*no: no such file"),
    ],
)  # fmt: skip
def test_what_shows_only_in_use_is_told_with_file_line_and_value(given, said, write) -> None:
    from kengine.curate import pipeline

    pytest.importorskip("tree_sitter", reason="what [decontaminate] compares with comes with kernel-engine[curate]")
    text = RUN.format(**{"source": "", "target": '"toy:cpu"', "more": "", **given})
    folder = write({"rows.jsonl": [{"code": "x", "prompt": "q"}], "curate.toml": text})
    with pytest.raises(ConfigError, match=rf"^{re.escape(str(folder / 'curate.toml'))}{said}"):
        pipeline.run(settings.read(folder))


def test_a_source_that_is_not_there_is_told_with_its_line(write) -> None:
    from kengine.curate import pipeline

    folder = write({"curate.toml": '[[source]]\npath = "a.jsonl"\n[[source]]\nname = "b"\npath = "b.jsonl"\n',
                    "a.jsonl": [{"code": "x", "prompt": "q"}]})  # fmt: skip
    with pytest.raises(ConfigError, match=r"curate\.toml:5: source\[1\]\.path: source b: .*b\.jsonl: no such file"):
        pipeline.run(settings.read(folder))


def test_a_run_that_has_its_verdicts_does_not_ask_for_targets(write) -> None:
    from kengine.curate import judge
    from kengine.curate.stage import Context

    class Done:
        def last(self) -> object:
            return object()

    made = settings.parse('[[source]]\npath = "x"\n', Path("curate.toml"))
    judge.check_targets(Context(made, Path("o"), 1, Done()), "reject.targets", ["nowhere:x"])
    with pytest.raises(ConfigError, match="no backend 'nowhere'"):
        judge.check_targets(Context(made, Path("o")), "reject.targets", ["nowhere:x"])
