from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from chat_server import Answer, says
from kengine.config import OpinionSettings
from kengine.model import Opinion
from kengine.opinion import endpoint

MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]


def settings(chat, **more):
    return OpinionSettings(url=chat.url, model="m", **{"timeout_s": 5.0, "retries": 0, **more})


def ask(chat, *answers, **more):
    chat.answers = list(answers)
    return endpoint.ask(MESSAGES, settings(chat, **more))


@pytest.mark.parametrize(("said", "genuine"), [("yes", True), ("no", False), ("unsure", None)])
def test_the_answer_counts(chat, said, genuine):
    assert ask(chat, says(said, "It stores\nwhat\x1b[31m it read.")) == Opinion(
        genuine, "It stores what [31m it read.", "m"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "true",
        "[]",
        "null",
        '{"genuine": "yes"}',
        '{"genuine": true, "reason": "r"}',
        '{"genuine": "Yes", "reason": "r"}',
        '{"genuine": ["yes"], "reason": "r"}',
        '{"genuine": "yes", "reason": null}',
        '{"genuine": "yes", "reason": "r", "more": 1}',
        '{"genuine": "no", "genuine": "yes", "reason": "r"}',
        'Sure: {"genuine": "yes", "reason": "r"}',
        '```json\n{"genuine": "yes", "reason": "r"}\n```',
        '{"genuine": "yes", "reason": "r"} {"genuine": "no", "reason": "r"}',
        "[" * 100_000,
    ],
)
def test_any_other_text_is_no_opinion(chat, text):
    opinion = ask(chat, Answer(text))
    assert opinion.genuine is None
    assert opinion.reason == "the model's answer is not the JSON object that was asked for"


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"\xff"])
def test_a_reply_that_is_no_completion(chat, body):
    assert ask(chat, Answer(body=body)).reason == "the endpoint's reply is no chat completion"


def test_no_content_refusals_and_cut_answers(chat):
    assert ask(chat, Answer(None)).genuine is None
    assert ask(chat, Answer(None, refusal="I cannot")).reason == "the model refused"
    cut = Answer(says("yes").text, finish="length")
    assert ask(chat, cut).reason == "the model's answer did not end by itself (length)"
    assert ask(chat, Answer(says("yes").text, finish="content_filter")).genuine is None
    assert ask(chat, Answer(says("yes").text, finish=None)).genuine is True


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (500, "the endpoint answered 500"),
        (503, "the endpoint answered 503"),
        (429, "the endpoint answered 429; rate limit"),
        (401, "the endpoint answered 401; check the key in OPENAI_API_KEY"),
        (404, "the endpoint answered 404; check url and model"),
        (302, "the endpoint answered 302"),
    ],
)
def test_a_failing_endpoint_is_no_opinion(chat, status, reason):
    answer = Answer(says("yes").text, status=status, headers={"Location": chat.url})
    assert ask(chat, answer) == Opinion(None, reason, "m")
    assert len(chat.requests) == 1


def test_outages_are_asked_again_and_refusals_are_not(chat):
    assert ask(chat, Answer(status=429, headers={"Retry-After": "0.05"}), says("no", "r"), retries=2).genuine is False
    assert len(chat.requests) == 2
    chat.requests.clear()
    assert ask(chat, Answer(status=500, headers={"Retry-After": "0.01"}), retries=2) == Opinion(
        None, "the endpoint answered 500 after 3 attempts", "m"
    )
    assert len(chat.requests) == 3
    chat.requests.clear()
    assert ask(chat, Answer(status=403), says("yes"), retries=2).genuine is None
    assert len(chat.requests) == 1


def test_a_long_wait_that_is_asked_for_is_not_waited(chat):
    begun = time.monotonic()
    assert ask(chat, Answer(status=429, headers={"Retry-After": "3600"}), retries=5).genuine is None
    assert time.monotonic() - begun < 3


def test_time_outs(chat):
    begun = time.monotonic()
    assert ask(chat, Answer(says("yes").text, wait_s=30), timeout_s=0.3, retries=3) == Opinion(
        None, "no answer within 0.3 s", "m"
    )
    assert time.monotonic() - begun < 3


def test_nobody_listens(chat):
    at = OpinionSettings(url="http://127.0.0.1:9/v1", model="m", retries=0)
    assert endpoint.ask(MESSAGES, at) == Opinion(None, "the endpoint cannot be asked (ConnectError)", "m")


def test_a_reply_without_end_is_not_read(chat, monkeypatch):
    monkeypatch.setattr(endpoint, "MAX_BYTES", 1000)
    assert ask(chat, Answer(body=b"x" * 5000)).reason == "the reply is longer than 1,000 bytes"


def test_a_server_that_knows_no_schemas(chat):
    assert ask(chat, Answer(status=400), says("yes")).genuine is True
    with_format, without = (body for _, _, body in chat.requests)
    assert with_format["response_format"]["json_schema"]["strict"] is True
    assert without == {"model": "m", "messages": MESSAGES}


def test_what_is_sent(chat, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-value")
    ask(chat, says("yes"), key_env="MY_KEY", options={"temperature": 0, "stop": ("a",)})
    path, headers, body = chat.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer secret-value"
    assert (body["model"], body["messages"], body["temperature"], body["stop"]) == ("m", MESSAGES, 0, ["a"])
    monkeypatch.delenv("MY_KEY")
    ask(chat, says("yes"), key_env="MY_KEY")
    assert "authorization" not in chat.requests[1][1]


def test_a_key_that_no_header_can_hold_is_not_told(chat, monkeypatch):
    monkeypatch.setenv("MY_KEY", "se\ncret\u2603")
    opinion = ask(chat, says("yes"), key_env="MY_KEY")
    assert opinion.genuine is None
    assert "cret" not in opinion.reason


def test_many_threads_at_once(chat):
    chat.answers = [says("yes")]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: endpoint.ask(MESSAGES, settings(chat)), range(32)))
    assert found == [Opinion(True, "because", "m")] * 32
    assert len(chat.requests) == 32
