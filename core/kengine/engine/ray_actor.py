"""The part of the Ray executor that runs on the nodes: an actor with a local engine in it.

The class travels by value and its first call carries plain data only, so that a node on which kengine itself is
missing can still say so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kengine.errors import KengineError

if TYPE_CHECKING:
    from kengine.engine.engine import Engine
    from kengine.model import Verdict
    from kengine.tasks import Item


def make_class() -> type:
    """Make the class of the actors. It refers to nothing outside itself, which is what makes Ray send its text."""

    class KengineWorker:
        def start(self, recipe: dict[str, Any]) -> dict[str, Any]:
            """Build the engine and warm it up; the answer says what is installed here, or what went wrong."""
            import threading
            from importlib import import_module

            self.engine: Any = None
            self.closed = threading.Event()
            self.slots = threading.Semaphore(recipe["slots"])
            where = {"node": import_module("ray").get_runtime_context().get_node_id()}
            try:
                from kengine.engine import ray_actor
            except ImportError as problem:
                return {**where, "kengine": "", "problem": str(problem)}
            answer, self.engine = ray_actor.start(recipe)
            return {**where, **answer}

        def verify(self, portion: bytes) -> bytes:
            """Judge pickled items one after the other: pickled seconds and outcomes, see `verify` below."""
            import pickle

            from kengine.engine import ray_actor

            items = pickle.loads(portion)
            with self.slots:  # one more portion than there are slots waits here, so that none of them idles
                return pickle.dumps(ray_actor.verify(self.engine, items))

        def stay(self) -> None:
            """Return when the actor is closed; this call ends with an error when the actor does."""
            self.closed.wait()

        def processes(self) -> Any:
            """Process numbers by name."""
            return self.engine.processes()

        def close(self) -> None:
            """End every process of the engine."""
            self.closed.set()
            if self.engine is not None:
                self.engine.close()

    return KengineWorker


def start(recipe: dict[str, Any]) -> tuple[dict[str, Any], Engine | None]:
    """Build the engine that a recipe of `kengine.engine.ray` describes, and say what is installed on this node."""
    import kengine
    from kengine import codec
    from kengine.config import Plan
    from kengine.engine.engine import Engine
    from kengine.plugins import registry

    answer: dict[str, Any] = {"kengine": kengine.__version__, "backend": "", "error": None}
    engine = None
    try:
        answer["backend"] = registry.find(recipe["name"]).origin
        engine = Engine(
            recipe["backend"],
            recipe["target"],
            compile_for=recipe["compile_for"],
            plan=codec.loads(recipe["plan"], Plan),
            workers=recipe["slots"],
        )
        engine.warm()
    except KengineError as error:
        if engine is not None:
            engine.close()
        return {**answer, "error": error}, None
    return {**answer, "info": engine.info, "compile_for": engine.compile_for}, engine


def verify(engine: Engine, items: Sequence[Item]) -> tuple[float, list[Verdict | KengineError]]:
    """Judge items one after the other: the seconds that it took, and for each its verdict or what kengine raised.

    Raised here, Ray would wrap it into an exception of its own.
    """
    begun = time.monotonic()
    outcomes: list[Verdict | KengineError] = []
    for item in items:
        try:
            outcomes.append(engine.verify(item))
        except KengineError as error:
            outcomes.append(error)
    return time.monotonic() - begun, outcomes
