"""The part of the Ray executor that runs on the nodes: an actor with a local engine in it.

The class travels by value and its first call carries plain data only, so that a node on which kengine itself is
missing can still say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.engine.engine import Engine
    from kengine.errors import KengineError
    from kengine.model import Verdict
    from kengine.tasks import Item


def make_class() -> type:
    """Make the class of the actors. It refers to nothing outside itself, which is what makes Ray send its text."""

    class KengineWorker:
        def start(self, recipe: dict[str, Any]) -> dict[str, Any]:
            """Build the engine and warm it up; the answer says what is installed here, or what went wrong."""
            from importlib import import_module

            self.engine: Any = None
            where = {"node": import_module("ray").get_runtime_context().get_node_id()}
            try:
                from kengine.engine import ray_actor
            except ImportError as problem:
                return {**where, "kengine": "", "problem": str(problem)}
            answer, self.engine = ray_actor.start(recipe)
            return {**where, **answer}

        def verify(self, portion: bytes) -> bytes:
            """Judge pickled items one after the other: pickled verdicts, or the KengineError that the engine raised."""
            import pickle

            from kengine.engine import ray_actor

            return pickle.dumps([ray_actor.verify(self.engine, item) for item in pickle.loads(portion)])

        def processes(self) -> Any:
            """Process numbers by name."""
            return self.engine.processes()

        def close(self) -> None:
            """End every process of the engine."""
            if self.engine is not None:
                self.engine.close()

    return KengineWorker


def start(recipe: dict[str, Any]) -> tuple[dict[str, Any], Engine | None]:
    """Build the engine that a recipe of `kengine.engine.ray` describes, and say what is installed on this node."""
    import kengine
    from kengine import codec
    from kengine.config import Plan
    from kengine.engine.engine import Engine
    from kengine.errors import KengineError
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


def verify(engine: Engine, item: Item) -> Verdict | KengineError:
    """Judge one item. What kengine raises is returned: Ray would wrap a raised exception into one of its own."""
    from kengine.errors import KengineError

    try:
        return engine.verify(item)
    except KengineError as error:
        return error
