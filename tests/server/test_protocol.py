"""The records of the wire."""

from __future__ import annotations

import pytest
from kengine import Candidate, UsageError, codec
from kengine.server.protocol import Answer, Batch, Request, failure, to_exception
from served import real_verdict, request
from toy_items import GOOD, TASK


def test_records_read_back_as_they_were():
    for record in (request("a", deadline_s=2.5), Batch((request("a"), request("b"))), Answer("a", real_verdict())):
        text = codec.dumps(record)
        assert codec.dumps(codec.loads(text, type(record))) == text


def test_records_and_texts_give_the_same_work():
    texts = Request("a", candidate_text=GOOD, task_text=TASK).item()
    assert request("a").item().candidate.digest == texts.candidate.digest
    mixed = Request("a", task=texts.task, candidate_text=GOOD).item()
    assert mixed.candidate == texts.candidate


def test_the_suffix_tells_the_language():
    request_ = Request("a", candidate_text="__global__ void k() {}", task_text=TASK, name="k.cu")
    assert request_.item().candidate.language == "cuda"


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request("a"), "no task"),
        (Request("a", candidate=Candidate((), "f"), task_text=TASK), "candidate.files is empty"),
        (Request("a", candidate=request("a").candidate, task_text=TASK), "a candidate without its task"),
    ],
)
def test_requests_that_make_no_sense(request_, said):
    with pytest.raises(UsageError, match=said):
        request_.item()


def test_an_error_that_only_a_newer_server_knows_is_nobodys_fault():
    error = to_exception(Answer("a", error="NewError", message="m"))
    assert type(error).__name__ == "InfraError" and str(error) == "NewError: m"
    assert failure("a", KeyError("x")).error == "InternalError"
