"""The candidate's entry bound to one set of inputs: a function, one that writes its outputs, or a module class."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import TaskView
from kengine.plugins.hooks import Inputs, describe
from kengine.runner import faults, kept, watch
from kengine.runner.parameters import load_parameters

Convert = Callable[[Array], Any]

_returned: dict[int, Any] = {}


@dataclass(frozen=True)
class Call:
    """The entry with its arguments; calling it calls the candidate once and keeps what it gave for `returned`.

    destination: what the entry writes its outputs into; then that is what a call gives, else None.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    destination: tuple[Any, ...] | None
    key: int

    def __call__(self) -> Any:
        """Call the candidate. Raises CandidateFault (launch_failed, crashed) with the exception as its cause."""
        try:
            with watch.entered():
                value = self.function(*self.arguments)
        except CandidateFault:
            kept.forget()
            raise
        except BaseException as error:
            kept.forget()
            raise faults.from_exception(error, "launch_failed", "the candidate") from error
        if self.destination is not None:
            if value is not None and not any(value is each for each in self.destination):
                _ignored[self.key] = self, value
            value = self.destination[0] if len(self.destination) == 1 else self.destination
        _returned[self.key] = value
        return value


_ignored: dict[int, tuple[Call, Any]] = {}
"""Calls that returned a result although they were given something to write it into, with that result."""


def returned(inputs: Inputs) -> tuple[bool, Any]:
    """Whether a call on these inputs has ended since `forget`, and what the last one gave."""
    return id(inputs) in _returned, _returned.get(id(inputs))


def forget() -> None:
    """Drop what calls have given."""
    _returned.clear()
    _ignored.clear()


def check_written(inputs: Inputs) -> None:
    """Refuse an entry that returned a result of its own and left what it was to write as it was: it took an output for
    one more input. For calls whose kernels did run. Raises CandidateFault (launch_failed)."""
    call, value = _ignored.pop(id(inputs), (None, None))
    if call is None or call.destination is None:
        return
    try:
        untouched = all(bool((each != each).all()) for each in call.destination)  # poison of floats is not a number
        parameters = [str(p) for p in inspect.signature(call.function).parameters.values()]
    except Exception:
        return
    if untouched:
        written = ", ".join(parameters[-len(call.destination) :])
        count = len(call.arguments) - len(call.destination)
        raise CandidateFault(
            "launch_failed",
            f"the task calls it with {count} argument{'s' * (count != 1)}; with more, the last are where it writes its "
            f"outputs, but it returned a {type(value).__name__} and wrote nothing into {written}",
        )


def find(namespace: ModuleType | Mapping[str, Any], view: TaskView) -> Any:
    """Find the entry in a candidate's namespace. Raises CandidateFault (compile_failed) with the names found."""
    names = vars(namespace) if isinstance(namespace, ModuleType) else namespace
    if view.entry in names:
        return names[view.entry]
    defined = [n for n, v in names.items() if isinstance(n, str) and not n.startswith("_") and callable(v)]
    own = [n for n in defined if getattr(names[n], "__module__", None) == names.get("__name__")] or defined
    near = difflib.get_close_matches(view.entry, defined, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    found = ", ".join(own[:20]) or "nothing"
    raise CandidateFault("compile_failed", f"the candidate does not define {view.entry!r}: it defines {found}{hint}")


def bind(
    namespace: ModuleType | Mapping[str, Any], view: TaskView, inputs: Inputs, convert: Convert = Array.as_torch
) -> Call:
    """Bind the entry to inputs: arrays converted, outputs passed where the entry takes them, a module constructed.

    Raises CandidateFault: compile_failed when there is no such entry, launch_failed when it cannot take the
    arguments or its constructor raises.
    """
    entry = find(namespace, view)
    kept.begin()
    arguments = tuple(converted(a, convert) for a in inputs.args)
    if view.form == "module":
        return Call(_construct(entry, view, inputs, convert), arguments, None, id(inputs))
    if not callable(entry):
        raise CandidateFault("launch_failed", f"{view.entry!r} is a {type(entry).__name__}, not a function")
    if _takes_destination(entry, view.entry, inputs):
        destination = tuple(watch.argument(_given(convert(a))) for a in inputs.destination)
        return Call(entry, (*arguments, *destination), destination, id(inputs))
    return Call(entry, arguments, None, id(inputs))


def call_candidate(
    namespace: ModuleType | Mapping[str, Any], view: TaskView, inputs: Inputs, convert: Convert = Array.as_torch
) -> Any:
    """Bind and call once; raises as `bind` and `Call` do."""
    return bind(namespace, view, inputs, convert)()


def converted(value: Any, convert: Convert) -> Any:
    """Convert every array in an argument, to the last call's object where it is the same memory; containers are new."""
    if isinstance(value, Array):
        return watch.argument(kept.same_object(_given(convert(value))))
    if isinstance(value, dict):
        return {k: converted(v, convert) for k, v in value.items()}
    if isinstance(value, list):
        return [converted(v, convert) for v in value]
    if isinstance(value, tuple):
        return tuple(converted(v, convert) for v in value)
    return value


def _given(value: Any) -> Any:
    """A converted array, on the device where there is a pretence of one."""
    pretence = sys.modules.get("kengine.pretence")
    if pretence is not None:
        pretence.give(value)
    return value


def _takes_destination(entry: Callable[..., Any], name: str, inputs: Inputs) -> bool:
    """Whether the entry wants its outputs as arguments. Raises CandidateFault when it can take neither form."""
    try:
        parameters = list(inspect.signature(entry).parameters.values())
    except (TypeError, ValueError):
        return False  # compiled code says nothing about itself; the call will tell
    except BaseException as error:
        raise faults.from_exception(error, "launch_failed", f"reading the signature of {name}") from error
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    most = None if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)
    demanded = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    have, extra = len(inputs.args), len(inputs.destination)
    if not demanded:
        if required <= have and (most is None or have <= most):
            return False
        if extra and required == have + extra:
            return True
    raise CandidateFault("launch_failed", _arity_message(name, [str(p) for p in parameters], demanded, inputs))


def _arity_message(name: str, parameters: list[str], demanded: list[str], inputs: Inputs) -> str:
    given = ", ".join(describe(a.spec) if isinstance(a, Array) else type(a).__name__ for a in inputs.args)
    count = len(inputs.args)
    expected = f"the task calls it with {count} argument{'s' * (count != 1)} ({given})"
    if inputs.destination:
        written = ", ".join(describe(a.spec) for a in inputs.destination)
        expected += f", or with {count + len(inputs.destination)} when it writes its outputs itself (then {written})"
    reason = f"; it demands {', '.join(demanded)} by name" if demanded else ""
    return faults.clean(f"{name}({', '.join(parameters)}) has the wrong parameters: {expected}{reason}", 1500)


def _construct(entry: Any, view: TaskView, inputs: Inputs, convert: Convert) -> Callable[..., Any]:
    if not isinstance(entry, type):
        raise CandidateFault("launch_failed", f"{view.entry!r} is a {type(entry).__name__}, not a class")
    before: Callable[..., Any] | None = kept.find_module(entry, inputs)
    if before is not None:
        # What it has made of its parameters stays right; where it has given them up, there is nothing to set back.
        with contextlib.suppress(Exception), watch.entered():
            load_parameters(before, {name: convert(a) for name, a in inputs.state.items()}, inputs, convert)
        return before
    arguments = [converted(a, convert) for a in inputs.init_args]
    try:
        with watch.entered():
            model = entry(*arguments)
    except BaseException as error:
        raise faults.from_exception(error, "launch_failed", f"constructing {view.entry}") from error
    try:
        with watch.entered():
            model = load_parameters(model, {name: convert(a) for name, a in inputs.state.items()}, inputs, convert)
    except CandidateFault:
        raise
    except BaseException as error:
        raise faults.from_exception(error, "launch_failed", f"giving {view.entry} its parameters") from error
    if not callable(model):
        raise CandidateFault("launch_failed", f"a {view.entry} cannot be called; it needs a forward method")
    kept.keep_module(entry, inputs, model)
    called: Callable[..., Any] = model
    return called
