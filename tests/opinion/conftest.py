from __future__ import annotations

import pytest

pytest.importorskip("httpx", reason="asking an endpoint needs httpx")

from chat_server import chat_server


@pytest.fixture
def chat(monkeypatch):
    """An endpoint on this machine, reached without any proxy."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with chat_server() as server:
        yield server
