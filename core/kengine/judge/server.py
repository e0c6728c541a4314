"""The judge's loop: one request at a time over one channel, until the channel closes.

`serve(sock)` is what a zygote's fork calls; `python -m kengine.judge.server --fd N` serves an inherited socket.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import socket
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kengine import codec, wire
from kengine.errors import InfraError, KengineError, TargetUnavailable, TaskError, UsageError
from kengine.judge import arena, compare, comparers, lending, near, profiles, reserve, screening, transforms, withheld
from kengine.judge.cache import ByteCache
from kengine.judge.clock import Instruments
from kengine.judge.lending import Holder, Key
from kengine.judge.session import Entry, Session
from kengine.judge.structure import Malformed, read_outputs
from kengine.model import Case, Comparison, Task

T = TypeVar("T")

CACHE_BYTES = {"cpu": 2 << 30, "cuda": 16 << 30}
"""How much of inputs and expected answers is kept, by device, where its size is not known."""
CACHE_SHARE, OWN_SHARE = 4, 32
"""One in so many bytes of a device's memory is for inputs and answers: what is drawn anew for each candidate is drawn
while it holds the device. The second in the judge of one candidate, beside whom there may be many."""
MAX_ROOM = 16
"""Loans of one size that an arena is made for at most."""
MAX_TASKS = 64
"""Open tasks that are kept; the one used longest ago goes first, and a later `open` brings it back."""

_REFUSALS = ((TaskError, "task"), (TargetUnavailable, "unavailable"), (InfraError, "infra"), (KengineError, "usage"))


class Judge:
    """The state of one judge process, and one method for each request; none of them trusts what a runner said."""

    def __init__(self) -> None:
        self.sessions: OrderedDict[str, Session] = OrderedDict()
        self.screened: set[str] = set()
        self.holders: dict[str, Holder] = {}
        self.instruments: dict[str, Instruments] = {}
        self.caches = {device: ByteCache[Entry](limit) for device, limit in CACHE_BYTES.items()}
        self.ops: dict[str, Callable[[dict[str, Any], list[int]], tuple[dict[str, Any], tuple[int, ...]]]] = {
            "open": self.open,
            "screen": self.screen,
            "lend": self.lend,
            "compare": self.compare,
            "profile": self.profile,
            "near": self.near,
            "prepare": self.prepare,
            "time": self.time,
            "release": self.release,
            "close": self.close,
            "ping": self.ping,
            "reserve": self.reserve,
        }

    def answer(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Answer one request; every failure becomes an answer with `ok` false."""
        op = self.ops.get(str(message.get("op")))
        if op is None:
            return _refusal("usage", f"the judge has no operation {str(message.get('op'))[:40]!r}"), ()
        try:
            body, out = op(message, fds)
        except KengineError as error:
            return _refusal(next(name for kind, name in _REFUSALS if isinstance(error, kind)), str(error)), ()
        except MemoryError:
            return _refusal("infra", "the judge's host has no memory left for this case"), ()
        except Exception as error:
            # A mistake in the judge says nothing about task or candidate: the machine's fault, and told in full.
            told = "".join(traceback.format_exception(error))[-4000:]
            return _refusal("infra", f"the judge failed during {message.get('op')!r}: {told}"), ()
        except BaseException as error:
            # Nothing of the judge's own raises SystemExit or KeyboardInterrupt: the task's code does.
            return _refusal("task", f"the task's code raised {type(error).__name__} during {message.get('op')!r}"), ()
        return {"ok": True, **body}, out

    def reserve(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Open a device before there is a task, and take memory of it."""
        arena.require_device(device := _field(message, "device", str))
        return {"nbytes": reserve.reserve(device)}, ()

    def open(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Load, expand and screen a task; the same request again is answered from what is kept."""
        task = codec.from_json(_field(message, "task", dict), Task)
        device = str(message.get("device", "cpu"))
        if device not in CACHE_BYTES:
            raise UsageError(f"no device {device!r}; known: {', '.join(CACHE_BYTES)}")
        limit = message.get("cases")
        if limit is not None and (type(limit) is not int or limit < 1):
            raise UsageError(f"cases is {limit!r}, want a number above 0")
        salt = _field(message, "salt", str)
        chip_error = message.get("chip_error", 0.0)
        if type(chip_error) not in (int, float) or not 0.0 <= chip_error < 1.0:
            raise UsageError(f"chip_error is {chip_error!r}, want a relative error from 0 to 1")
        beside = message.get("beside", 1)
        if type(beside) is not int or beside < 1:
            raise UsageError(f"beside is {beside!r}, want the number of judges that share the memory")
        key = _key(task, salt, device, limit, chip_error)
        session = self.sessions.get(key)
        if session is None:
            arena.require_device(device)
            if not task.self_referenced:
                reserve.reserve(device)
            share = OWN_SHARE if task.self_referenced else CACHE_SHARE * beside
            self.caches[device].limit = arena.memory_bytes(device) // share or CACHE_BYTES[device] // beside
            session = Session(task, salt, device, key, self.caches[device], float(chip_error))
            try:
                session.open(limit)
            except BaseException:
                session.close()
                raise
            self.sessions[key] = session
            self._evict()
        session.comparers = comparers.read_names(message.get("comparers"))
        self.sessions.move_to_end(key)
        if message.get("screen") and key not in self.screened:
            screening.screen(session)
            self.screened.add(key)
        return {
            "task_id": key,
            "cases": [codec.to_json(c) for c in session.cases],
            "skipped": session.skipped,
            "views": [codec.to_json(v) for v in session.views],
            "arity": session.arity,
            "module": task.form == "module",
            "notes": session.notes,
            "elapsed_ns": session.elapsed_ns,
        }, ()

    def screen(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Open a task and tell everything that is found about it; one that cannot be opened is a finding too."""
        from kengine.judge import survey

        try:
            opened, _ = self.open({**message, "screen": False}, fds)
        except TaskError as error:
            name = str(_field(message, "task", dict).get("name", ""))
            return {"findings": [codec.to_json(survey.broken(name, str(error)))], "cases": [], "skipped": {}}, ()
        found = [codec.to_json(f) for f in survey.survey(self.sessions[opened["task_id"]])]
        return {"findings": found, "cases": opened["cases"], "skipped": opened["skipped"]}, ()

    def _evict(self) -> None:
        while len(self.sessions) > MAX_TASKS:
            key, session = self.sessions.popitem(last=False)
            self.screened.discard(key)
            session.close()

    def lend(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Fresh inputs and poisoned sinks of some cases for one holder: of one phase, or of one each.

        `elsewhere` and `room` are those of `lending.lend`.
        """
        session = self._session(message)
        cases = _field(message, "cases", list)
        phases = message.get("phases") or [_field(message, "phase", str)] * len(cases)
        if type(phases) is not list or len(phases) != len(cases) or not all(type(p) is str for p in phases):
            raise UsageError("lend: wants a phase for each case")
        wanted = []
        for index, phase in zip(cases, phases):
            case = self._case(session, index)
            expected = session.expected(case, phase)
            wanted.append(((session.key, index, phase), session.entry(case, phase), expected))
        if not wanted:
            raise UsageError("lend: no cases")
        holder = self.holders.setdefault(_field(message, "holder", str), Holder())
        room = message.get("room") or [0, 0]
        if type(room) is not list or len(room) != 2 or not all(type(n) is int and 0 <= n <= MAX_ROOM for n in room):
            raise UsageError(f"lend: room is {room!r}, want two numbers from 0 to {MAX_ROOM}")
        elsewhere = message.get("elsewhere") is True
        bundles, out = lending.lend(holder, wanted, len(session.writes), session.device, elsewhere, room)
        return {"bundles": bundles}, out

    def compare(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Compare what lies in a holder's sinks; a description that no runner sends adds a `fault`.

        `digest` false leaves the digest empty: of a large output on a device it takes longer than everything else.
        `before` is of a call with launches withheld: in a brief comparison the `parts` that are right then.
        """
        session = self._session(message)
        index = _field(message, "case", int)
        case = self._case(session, index)
        key, holder = (session.key, index, _field(message, "phase", str)), _field(message, "holder", str)
        if message.get("brief"):
            ok = self.passes(session, case, key, holder, message.get("outputs"))
            found = Comparison(case.name, ok, "" if ok else "the answer is wrong")
            before = "" if ok else str(message.get("before", ""))
            parts = before and withheld.find_parts(session, self.holders[holder], key, message.get("outputs"), before)
            return {"comparison": codec.to_json(found), "digest": "", "parts": parts}, ()
        wanted = message.get("digest", True) is not False
        comparison, digest, tampered = self.judge_outputs(session, case, key, holder, message.get("outputs"), wanted)
        body: dict[str, Any] = {"comparison": codec.to_json(comparison), "digest": digest}
        if tampered:
            body["fault"] = {"status": "tampered", "message": tampered}
        return body, ()

    def profile(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """The operators that the reference itself uses on a case."""
        session = self._session(message)
        case = self._case(session, _field(message, "case", int))
        return {"facts": codec.to_json(profiles.profile(session, case))}, ()

    def near(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """The phase whose inputs are nearly those of another and whose answer is not; "" when there is none."""
        session = self._session(message)
        case = self._case(session, _field(message, "case", int))
        return {"phase": near.choose(session, case, _field(message, "phase", str))}, ()

    def judge_outputs(
        self, session: Session, case: Case, key: Key, name: str, outputs: Any, digested: bool = False
    ) -> tuple[Comparison, str, str]:
        """Comparison, digest of the copied outputs ("" unless `digested`), and what is malformed in their description
        ("" when nothing)."""
        holder, place = self._place(session, case, key, name)
        total = sum(o.nbytes for o in place.expected.outputs)
        try:
            values, arrays = read_outputs(outputs, len(place.sinks))
        except Malformed as error:
            problem = f"the result channel carried a description of outputs that is none: {error}"
            return Comparison(case.name, False, problem, wrong=total, total=total), "", problem
        copies = lending.copy_out(holder, place, arrays)
        mutated = lending.changed_inputs(holder, place, session.writes)
        digest = compare.digest(copies) if digested else ""
        made = transforms.reference_outputs(session.module, values, arrays, copies, place.expected.result)
        if made is not None:
            if made.problem:
                return Comparison(case.name, False, made.problem, wrong=total, total=total, mutated=mutated), digest, ""
            values, arrays, copies = list(made.values), list(made.arrays), list(made.copies)
        result = compare.compare(
            case.name,
            place.expected,
            values,
            arrays,
            copies,
            session.device,
            session.task.spec.tolerance,
            mutated,
            comparers.ask_plugins(session.comparers, session.task, key[1]),
        )
        return result, digest, ""

    def passes(self, session: Session, case: Case, key: Key, name: str, outputs: Any) -> bool:
        """Whether what a holder has in its sinks is right, without a word on what is wrong where it is not."""
        if session.comparers:
            return self.judge_outputs(session, case, key, name, outputs)[0].ok
        holder, place = self._place(session, case, key, name)
        try:
            values, arrays = read_outputs(outputs, len(place.sinks))
        except Malformed:
            return False
        copies = lending.copy_out(holder, place, arrays)
        if lending.changed_inputs(holder, place, session.writes):
            return False
        tolerance = session.task.spec.tolerance
        return compare.passes(place.expected, values, arrays, copies, session.device, tolerance)

    def _place(self, session: Session, case: Case, key: Key, name: str) -> tuple[Holder, lending.Place]:
        holder = self.holders.get(name)
        place = holder.find(key) if holder else None
        if holder is None or place is None:
            raise UsageError(f"case {case.name!r} in phase {key[2]!r} is not lent to {name!r}")
        arena.synchronize(session.device)
        return holder, place

    def prepare(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Draw what timing will need, so that the device is not held for it."""
        from kengine.judge import timing

        session = self._session(message)
        cases = [(index, self._case(session, index)) for index in _field(message, "cases", list)]
        timing.prepare(self, session, cases, _field(message, "plan", dict), str(message.get("holder", "")))
        return {}, ()

    def time(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Time candidate and baseline in turn over the runner's channel, which came with the request."""
        from kengine.judge import timing

        session = self._session(message)
        cases = [(index, self._case(session, index)) for index in _field(message, "cases", list)]
        if len(fds) != 1:
            raise UsageError(f"time: wants one descriptor, the runner's channel; got {len(fds)}")
        with socket.socket(fileno=os.dup(fds[0])) as channel:
            return timing.time_cases(
                self, session, cases, _field(message, "holder", str), _field(message, "plan", dict), channel
            ), ()

    def release(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Take back whatever a holder has."""
        holder = self.holders.pop(_field(message, "holder", str), None)
        if holder is not None:
            holder.close()
        return {"released": holder is not None}, ()

    def close(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Forget a task."""
        key = _field(message, "task_id", str)
        session = self.sessions.pop(key, None)
        self.screened.discard(key)
        if session is not None:
            session.close()
        return {"closed": session is not None}, ()

    def ping(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Say that the judge lives, and what it holds."""
        lent = sum(h.arena.nbytes for h in self.holders.values() if h.arena is not None)
        kept = sum(c.held for c in self.caches.values())
        return {"pid": os.getpid(), "tasks": len(self.sessions), "holders": len(self.holders), "lent_bytes": lent,
                "kept_bytes": kept}, ()  # fmt: skip

    def shut(self) -> None:
        """Give everything back."""
        for holder in self.holders.values():
            holder.close()
        self.holders.clear()
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()

    def _session(self, message: dict[str, Any]) -> Session:
        key = _field(message, "task_id", str)
        session = self.sessions.get(key)
        if session is None:
            raise InfraError(f"task {key[:16]} is not open here (the judge was started again); open it first")
        self.sessions.move_to_end(key)
        return session

    def _case(self, session: Session, index: Any) -> Case:
        if type(index) is not int or not 0 <= index < len(session.cases):
            raise UsageError(f"no case {index!r}: the task has {len(session.cases)}")
        return session.cases[index]


def _field(message: dict[str, Any], name: str, kind: type[T]) -> T:
    """A field of a request. Raises UsageError when it is missing or of another type."""
    value = message.get(name)
    if type(value) is not kind:
        raise UsageError(f"{message.get('op')}: wants {name} as {kind.__name__}, got {type(value).__name__}")
    return value


def _key(task: Task, salt: str, device: str, limit: int | None, chip_error: float) -> str:
    parts = json.dumps([task.digest, task.name, task.path, salt, device, limit, chip_error])
    return hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()


def _refusal(kind: str, message: str) -> dict[str, Any]:
    return {"ok": False, "error": kind, "message": message}


def serve(sock: socket.socket) -> None:
    """Answer requests until the other end closes or sends something that is no message."""
    judge = Judge()
    try:
        while True:
            try:
                message, fds = wire.receive(sock)
            except wire.WireError:
                return
            try:
                body, out = judge.answer(message, fds)
            finally:
                wire.close_all(fds)
            try:
                _reply(sock, body, out)
            except wire.WireClosed:
                return
    finally:
        judge.shut()


def _reply(sock: socket.socket, body: dict[str, Any], out: tuple[int, ...]) -> None:
    try:
        wire.send(sock, body, out)
    except wire.WireClosed:
        raise
    except (wire.WireError, ValueError, TypeError) as error:
        wire.send(sock, _refusal("infra", f"the judge's answer cannot be sent: {error}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the socket that was inherited as descriptor `--fd`."""
    parser = argparse.ArgumentParser(prog="python -m kengine.judge.server", description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="inherited unix stream socket")
    with socket.socket(fileno=parser.parse_args(arguments).fd) as sock:
        serve(sock)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
