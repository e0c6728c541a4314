from __future__ import annotations

from dataclasses import replace

import pytest
from kengine import codec, config
from kengine.config import Config, ConfigError, Limits, Plan
from kengine.errors import UsageError
from kengine.target import Target


def test_every_key_of_a_file(tmp_path):
    path = tmp_path / "kengine.toml"
    path.write_text(
        'backend = "triton"\ntarget = "triton:interpret"\ncompile-for = ["triton:sm_90"]\nworkers = 3\n'
        'cases = 4\ntime = true\nmin-speedup = 2\ncompile_timeout_s = 7.5\nselect = ["KE1"]\n'
        "[limits]\nmemory-bytes = 1000\nwall_s = 9\n"
    )
    read = config.read(path)
    assert read == Config(
        "triton",
        Target("triton", "interpret"),
        (Target("triton", "sm_90"),),
        3,
        Plan(
            cases=4,
            time=True,
            min_speedup=2.0,
            compile_timeout_s=7.5,
            select=("KE1",),
            limits=Limits(memory_bytes=1000, wall_s=9.0),
        ),
        str(path),
    )


def test_pyproject(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text('[project]\nname = "x"\n[tool.kengine]\ncases = 2\n')
    assert config.read(path).plan == Plan(cases=2)
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert config.find(deep) == path
    (tmp_path / "a" / "pyproject.toml").write_text('[project]\nname = "without a table of ours"\n')
    assert config.find(deep) == path
    own = tmp_path / "a" / "kengine.toml"
    own.write_text("")
    assert config.find(deep) == own
    assert config.read(own) == Config(path=str(own))


def test_no_file_gives_the_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "find", lambda start=None: None)
    assert config.read() == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("caes = 3", "unknown key 'caes'; did you mean 'cases'? allowed: backend, baseline, cases, check, "),
        ("[limits]\ncpu = 3", "unknown key 'limits.cpu'; did you mean 'cpu_s'? allowed: cpu_s, disk_bytes, "),
        ('cases = "3"', "cases: want int, got str"),
        ("cases = 3.0", "cases: want int, got float"),
        ("cases = 0", "cases: want a number above 0, got 0"),
        ("cases = 1979-05-27", "cases: want int, got datetime.date"),
        ("min_speedup = inf", "min_speedup: want a finite float, got inf"),
        ("min-speedup = 1\nmin_speedup = 2", "'min_speedup' is given twice, with '-' and with '_'"),
        ('baseline = "fast"', "baseline: want one of 'eager', 'compile', got 'fast'"),
        ("[limits]\nwall_s = -1", "limits: wall_s: want a number above 0, got -1.0"),
        ("limits = 3", "limits: want a table, got int"),
        ('target = "sm_90"', "target: target 'sm_90' is not of the form BACKEND:ARCH"),
        ('backend = "Triton"', "backend: want a name such as \"triton\", got 'Triton'"),
        ('backend = "triton"\ntarget = "cuda:cpu"', "target: cuda:cpu is not a target of backend 'triton'"),
        ("workers = 0", "workers: want at least 1, got 0"),
        ("check = false\ntime = true", "a time is measured only of a candidate that was checked"),
        ('salt = "xyz"', "salt is not 16 to 128 lower-case hexadecimal digits"),
        ("cases = ", "not TOML: "),
    ],
)
def test_errors_name_file_key_and_what_is_allowed(tmp_path, text, message):
    path = tmp_path / "kengine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert caught.value.exit_code == 2


def test_unreadable_files(tmp_path):
    path = tmp_path / "kengine.toml"
    with pytest.raises(ConfigError, match=r"kengine\.toml: cannot be read: No such file or directory"):
        config.read(path)
    path.write_bytes(b"cases = '\xff\xfe'")
    with pytest.raises(ConfigError, match=r"kengine\.toml: not TOML: "):
        config.read(path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cases": -1}, "cases: want a number above 0, got -1"),
        ({"cases": True}, "cases: want a number, got True"),
        ({"launch_timeout_s": 0}, "launch_timeout_s: want a number above 0, got 0"),
        ({"min_speedup": float("nan")}, "min_speedup: want a number above 0, got nan"),
        ({"task_timeout_s": "3"}, "task_timeout_s: want a number, got '3'"),
        ({"baseline": "x"}, "baseline is 'x', allowed: 'eager', 'compile'"),
        ({"salt": "AB" * 16}, "salt is not 16 to 128 lower-case hexadecimal digits"),
    ],
)
def test_plans_that_make_no_sense(given, message):
    with pytest.raises(UsageError, match=message):
        Plan(**given)


def test_a_bar_for_speed_asks_for_timing():
    assert Plan(min_speedup=1.2).timed
    assert Plan(min_speedup=1.2) == Plan(min_speedup=1.2, time=True)
    assert not Plan().timed


def test_a_plan_in_a_verdict_reads_back_and_keeps_its_salt_to_itself():
    plan = Plan(cases=3, salt="ab" * 16, limits=Limits(processes=4))
    written = plan.to_json()
    assert "salt" not in written
    assert codec.from_json(written, Plan) == replace(plan, salt="")
    assert plan.timing_json() == {"budget_s": 2.0, "baseline": "eager"}


@pytest.mark.parametrize("name", Limits.__dataclass_fields__)
def test_limits_are_above_zero(name):
    with pytest.raises(UsageError, match=f"{name}: want a number above 0, got 0"):
        Limits(**{name: 0})
