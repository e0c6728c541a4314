"""The remote forms of OpenRLHF and slime over HTTP."""

# ruff: noqa: E402
from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI (pip install 'kernel-engine[server]')")
httpx = pytest.importorskip("httpx", reason="needs httpx (pip install 'kernel-engine[server]')")

from kengine.integrations.reward_server import create_app


@pytest.fixture
def post(environment):
    def call(path, body):
        async def ask():
            async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app()), base_url="http://t") as client:
                return await client.post(path, json=body)

        return asyncio.run(ask())

    return call


def test_openrlhf(post, toy):
    body = {"query": ["p" + toy.right, "p" + toy.wrong], "prompts": ["p", "p"], "labels": [toy.task] * 2}
    assert post("/openrlhf", body).json() == {"rewards": [1.0, 0.0], "scores": [1.0, 0.0], "extra_logs": {}}
    wrong = post("/openrlhf", {"query": ["a"], "prompts": [], "labels": []})
    assert wrong.status_code == 422 and wrong.json()["message"] == "1 queries, 0 prompts and 0 labels"


def test_slime(post, toy):
    response = post("/slime", {"prompt": "p", "response": toy.right, "label": toy.task})
    assert response.json() == 1.0
    assert post("/slime", {"prompt": "p", "response": toy.right}).status_code == 422


def test_a_lost_sample_is_asked_for_again(post, toy, lost):
    response = post("/slime", {"prompt": "p", "response": toy.right, "label": toy.task})
    assert response.status_code == 503 and response.json()["error"] == "InfraError"
