"""Opinions in a whole run, with an endpoint on this machine."""

from __future__ import annotations

import json

import pytest
from kengine import Engine, Plan, codec
from kengine.cli import options
from kengine.cli.replay import recorded_plan
from kengine.config import OpinionSettings
from kengine.engine import opinions
from kengine.errors import UsageError
from kengine.model import Check, Verdict
from kengine.plugins import backend, registry
from toy_items import GOOD, item

pytest.importorskip("httpx", reason="asking an endpoint needs httpx")

from chat_server import Answer, chat_server, says


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """The plugin as an installed one, also where the metadata of this distribution is older than it."""
    monkeypatch.delenv("KENGINE_NO_PLUGINS", raising=False)
    if not any(p.module == "kengine.opinion.plugin" for p in registry.installed(registry.PACKS)):
        info = tmp_path / "kengine_opinion-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kengine-opinion\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[kengine.plugins]\nopinion = kengine.opinion.plugin\n")
        monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def chat(monkeypatch, installed):
    for name in ("HTTP_PROXY", "ALL_PROXY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with chat_server() as server:
        yield server


def judge(chat, *answers, text=GOOD, **more):
    chat.answers = list(answers)
    settings = OpinionSettings(url=chat.url, model="m", **{"timeout_s": 5.0, "retries": 0, **more})
    with Engine(target="toy:cpu", plan=Plan(cases=1, opinion=settings), workers=1) as engine:
        return engine.verify(item(text))


def opinion_of(verdict):
    return next((c for c in verdict.stages.integrity.checks if c.name == "opinion"), None)


def test_a_good_opinion_is_recorded(chat):
    verdict = judge(chat, says("yes", "The kernel adds."))
    assert verdict.status == "passed"
    assert opinion_of(verdict) == Check("opinion", True, True, "genuine: m: The kernel adds.", "warn")
    assert chat.document["facts"]["kernels_launched"][0]["kernel"] == "add"
    assert "return x + y" in chat.document["task"]["reference"]
    assert verdict.durations_ns["opinion"] > 0
    assert codec.loads(codec.dumps(verdict), Verdict) == verdict


def test_a_doubt_is_recorded_and_fails_only_where_it_shall(chat):
    verdict = judge(chat, says("no", "numpy adds."))
    assert verdict.status == "passed"
    assert opinion_of(verdict) == Check("opinion", True, False, "not genuine: m: numpy adds.", "warn")
    verdict = judge(chat, says("no", "numpy adds."), severity="reject")
    assert (verdict.status, verdict.stage) == ("sham", "integrity")
    assert verdict.message == "opinion: not genuine: m: numpy adds."


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer("garbage"), "the model's answer is not the JSON object that was asked for"),
        (Answer(status=500), "the endpoint answered 500"),
        (Answer(status=429), "the endpoint answered 429; rate limit"),
        (says("unsure", "It depends."), "It depends."),
        (Answer(says("no").text, wait_s=30), "no answer within 0.5 s"),
    ],
)
def test_no_opinion_never_fails_a_candidate(chat, answer, why):
    verdict = judge(chat, answer, severity="reject", timeout_s=0.5)
    assert verdict.status == "passed"
    assert opinion_of(verdict) == Check("opinion", False, True, f"no opinion: m: {why}", "reject")


def test_nobody_is_asked_about_a_candidate_that_failed(chat):
    wrong = GOOD.replace("x[rows] + y[rows]", "x[rows] - y[rows]")
    assert judge(chat, says("yes"), text=wrong).status == "wrong_result"
    assert chat.requests == []


def test_the_key_is_in_no_verdict(chat, monkeypatch):
    monkeypatch.setenv("MY_KEY", "s3cret-s3cret")
    verdict = judge(chat, says("yes"), key_env="MY_KEY")
    assert chat.requests[0][1]["authorization"] == "Bearer s3cret-s3cret"
    assert "s3cret" not in codec.dumps(verdict)
    assert verdict.plan["opinion"]["key_env"] == "MY_KEY"


def test_a_replay_asks_nobody(chat):
    verdict = judge(chat, says("yes"))
    plan, _ = recorded_plan(verdict)
    assert plan.opinion is None
    assert plan.cases == 1


def test_off_by_default(chat):
    assert Plan().opinion is None
    with Engine(target="toy:cpu", plan=Plan(cases=1), workers=1) as engine:
        assert opinion_of(engine.verify(item(GOOD))) is None


def test_a_plan_that_nobody_can_answer_is_refused(installed, monkeypatch):
    plan = Plan(opinion=OpinionSettings(url="http://h/v1", model="m"))
    with monkeypatch.context() as patch:
        patch.setattr(opinions, "find_spec", lambda name: None)
        with pytest.raises(UsageError, match=r"pip install 'kernel-engine\[opinion\]'"):
            opinions.require(plan, backend.load("toy"))
    monkeypatch.setenv("KENGINE_NO_PLUGINS", "1")
    with pytest.raises(UsageError, match="unset KENGINE_NO_PLUGINS"):
        opinions.require(plan, backend.load("toy"))
    opinions.require(Plan(), backend.load("toy"))


def test_options_of_the_command():
    plan = options.merge_plan(
        Plan(), opinion="http://h/v1", opinion_model="m", opinion_severity="reject", opinion_key_env="K"
    )
    assert plan.opinion == OpinionSettings("http://h/v1", "m", "K", "reject")
    assert options.merge_plan(plan, opinion_model="n", opinion=None).opinion == OpinionSettings(
        "http://h/v1", "n", "K", "reject"
    )
    with pytest.raises(UsageError, match="give --opinion URL too"):
        options.merge_plan(Plan(), opinion_model="m")
    with pytest.raises(UsageError, match="needs both a url and a model"):
        options.merge_plan(Plan(), opinion="http://h/v1")


def test_the_engine_holds_no_key_in_its_zygotes(monkeypatch):
    from kengine.engine.zygote import environment

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("SOME_OTHER_SECRET", "s")
    kept = environment({"OWN": "1"})
    assert not {"OPENAI_API_KEY", "SOME_OTHER_SECRET"} & set(kept)
    assert kept["OWN"] == "1" and kept["OMP_NUM_THREADS"] == "1"


def test_json_of_a_plan():
    plan = Plan(opinion=OpinionSettings("http://h/v1", "m", options={"temperature": 0.5}))
    assert codec.from_json(json.loads(json.dumps(plan.to_json())), Plan) == plan


def test_a_recorded_doubt_costs_no_reward_and_is_shown(chat):
    from kengine.report.text import verdict_text
    from kengine.rewards import correctness
    from rich.console import Console

    verdict = judge(chat, says("no", "numpy adds."))
    assert correctness(verdict) == correctness(judge(chat, says("yes"))) == 1.0
    console = Console(width=200, no_color=True)
    with console.capture() as shown:
        console.print(verdict_text(verdict))
    assert "warned" in shown.get()
    assert [c.failed for c in verdict.stages.integrity.checks if c.name == "opinion"] == [False]
