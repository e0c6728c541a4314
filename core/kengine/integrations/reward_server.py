"""Rewards over HTTP in the forms that two trainers speak: OpenRLHF's remote reward model and slime's `remote_rm`.

    KENGINE_TARGET=triton:interpret uvicorn --factory kengine.integrations.reward_server:create_app --port 8472

OpenRLHF: `--reward.remote_url http://127.0.0.1:8472/openrlhf`. slime: `--rm-type remote_rm --rm-url
http://127.0.0.1:8472/slime`. A sample that has no reward is answered with 503, after which both ask again.
"""

from __future__ import annotations

from typing import Any

from kengine.errors import InfraError, UsageError
from kengine.integrations.columns import to_task
from kengine.integrations.grading import Graded, grader


def create_app() -> Any:
    """The application; its keywords come from the environment (KENGINE_TARGET or KENGINE_URL, KENGINE_REWARD, ...)."""
    from fastapi import Body, FastAPI
    from fastapi.responses import JSONResponse

    from kengine.integrations.openrlhf import read_response

    app = FastAPI(title="kengine rewards", docs_url=None, redoc_url=None)
    grader({})

    async def openrlhf(body: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        queries, prompts, labels = (body.get(key) or [] for key in ("query", "prompts", "labels"))
        if not len(queries) == len(prompts) == len(labels):
            raise UsageError(f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels")
        responses = [read_response(query, prompt) for query, prompt in zip(queries, prompts)]
        graded = await grader({}).grade_async(responses, [to_task(label, "label") for label in labels])
        return {"rewards": _rewards(graded), "scores": [float(each.passed) for each in graded], "extra_logs": {}}

    async def slime(body: dict[str, Any] = Body()) -> float:  # noqa: B008
        graded = await grader({}).grade_async([body.get("response", "")], [to_task(body.get("label"), "label")])
        return _rewards(graded)[0]

    async def failed(_: Any, error: Exception) -> Any:
        code = 503 if isinstance(error, InfraError) else 422
        return JSONResponse({"error": type(error).__name__, "message": str(error)}, code)

    app.add_api_route("/openrlhf", openrlhf, methods=["POST"])
    app.add_api_route("/slime", slime, methods=["POST"])
    app.add_exception_handler(InfraError, failed)
    app.add_exception_handler(UsageError, failed)
    return app


def _rewards(graded: list[Graded]) -> list[float]:
    return [each.require() for each in graded]
