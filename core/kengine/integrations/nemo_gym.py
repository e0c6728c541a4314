"""NeMo Gym: a resources server whose `/verify` grades with kengine.

    python -m kengine.integrations.nemo_gym       # inside NeMo Gym, as the entry point of the resources server

Rows carry the task in `verifier_metadata.task`; keywords come from the environment. A sample that the machine failed on
is answered with `_ng_failure_class`, by which NeMo Gym keeps it out of training.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kengine.integrations.columns import find_column
from kengine.integrations.grading import grader


async def verify(row: Mapping[str, Any]) -> dict[str, Any]:
    """Grade one row: the fields of the request with `reward` and `kengine_status` added."""
    metadata = find_column(row, "verifier_metadata", "NeMo Gym")
    task = find_column(metadata, "task", "NeMo Gym", "it belongs into verifier_metadata")
    (graded,) = await grader({}).grade_async([read_output(row.get("response") or {})], [task])
    answer = {**row, "reward": graded.reward or 0.0, "kengine_status": graded.status}
    return {**answer, "_ng_failure_class": "infra"} if graded.masked else answer


def read_output(response: Mapping[str, Any]) -> str:
    """The text of the last assistant message of a Responses object."""
    for item in reversed(response.get("output") or []):
        if item.get("type") == "message" and item.get("role", "assistant") == "assistant":
            return "".join(part.get("text", "") for part in item.get("content") or [] if isinstance(part, Mapping))
    return ""


def create_server() -> Any:
    """The class of the resources server; needs nemo_gym."""
    from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer
    from pydantic import ConfigDict

    class KernelRequest(BaseVerifyRequest):  # type: ignore[misc]
        model_config = ConfigDict(extra="allow")

    class KernelResponse(BaseVerifyResponse):  # type: ignore[misc]
        model_config = ConfigDict(extra="allow")

    class KernelResourcesServer(SimpleResourcesServer):  # type: ignore[misc]
        async def verify(self, body: Any) -> Any:
            return KernelResponse(**await verify(body.model_dump()))

    KernelResourcesServer.verify.__annotations__ = {"body": KernelRequest, "return": KernelResponse}
    return KernelResourcesServer


if __name__ == "__main__":
    create_server().run_webserver()
