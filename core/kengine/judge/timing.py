"""Timing of candidate and baseline in turn: fresh inputs for every call, every output compared, the judge's clock.

One method measures both sides from the first batch to the last. A batch that could not be measured by it is asked for
again on other inputs (`clock.ATTEMPTS`). When it keeps failing nothing of the course is believed: the record has no
case, and says why (`TimeRecord.device["unmeasured"]`). That is a measurement that failed and no lie, since a recorder
breaks for reasons of its own and whoever accuses for it accuses honest kernels. What contradicts itself stays a lie: a
time in which the device cannot do the work, more time than passed by the judge's clock, a better clock than asked for.

A candidate may break the recorder on purpose, since it lives in the same process. The engine then asks for all of it
once more by events (`Options.method`), which do not see other streams and count gaps between launches, of which a
reference in many small operators has more. So that nobody gains by that, a reference that is timed by a lesser clock
than the judge has is timed by the best one as well, and the batch in which it was faster counts.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from kengine import codec
from kengine.errors import CandidateFault, DeviceLost, UsageError
from kengine.judge import arena, claims, lending, roofline, several, siblings
from kengine.judge.claims import Batch
from kengine.judge.clock import ATTEMPTS, METHODS, Call, Instruments, Method, instruments_for
from kengine.judge.lending import Holder
from kengine.judge.reference import prepare_call
from kengine.judge.session import Entry, Session
from kengine.judge.statistics import Speedup, geometric_mean, speedup
from kengine.model import Case, CaseTiming, TimeRecord, TimingPlan

if TYPE_CHECKING:
    from kengine.judge.server import Judge

MIN_SETS, MAX_SETS = 4, 8
"""Input sets that a batch rotates over; each call of a batch has a set of its own."""
MAX_BYTES = 4 << 30
"""Memory that the sets of one batch may take."""
MIN_ROUNDS, MAX_ROUNDS = 6, 25
NARROW, SETTLED = 0.01, 0.03
"""Relative width of an interval at which more rounds would say nothing new; the second once the label is clear."""
REPEATS = 4
"""Batches of one course that may be asked for again in all: more would let a candidate discard those it dislikes."""
AHEAD = 4
"""Further rounds whose inputs are drawn at a time."""
LONG_NS = 20_000_000
MAX_FURTHER = 64
"""Further calls of a long batch at the most: a hitch of 5 ms in it is 0.1 ms of each, far below what is looked for."""


Draw = Callable[[], None]


@dataclass(frozen=True)
class Options:
    """What the engine asks for: seconds of measuring for one case, baseline "eager" or "compile", time for a batch, and
    the method to begin with; "" for the best that there is."""

    budget_s: float = 2.0
    baseline: str = "eager"
    timeout_s: float = 30.0
    method: str = ""

    @classmethod
    def read(cls, plan: Mapping[str, Any]) -> Options:
        """Read the plan of a request. Raises UsageError for values that make no sense."""
        options = cls(
            float(plan.get("budget_s", 2.0)),
            str(plan.get("baseline", "eager")),
            float(plan.get("timeout_s", 30.0)),
            str(plan.get("method", "")),
        )
        if not 0 < options.budget_s < 3600 or not 0 < options.timeout_s < 3600:
            raise UsageError(f"time: budget_s and timeout_s must be above 0 and below an hour: {dict(plan)}")
        if options.baseline not in ("eager", "compile"):
            raise UsageError(f"time: baseline is {options.baseline!r}, known: eager, compile")
        if options.method not in ("", *METHODS):
            raise UsageError(f"time: method is {options.method!r}, known: {', '.join(METHODS)}")
        return options


class Unmeasured(Exception):
    """The runner's clock did not work, also when it was asked again; the text is the runner's reason."""


def time_cases(
    judge: Judge,
    session: Session,
    cases: Sequence[tuple[int, Case]],
    holder: str,
    plan: Mapping[str, Any],
    channel: socket.socket,
    instruments: Instruments | None = None,
) -> dict[str, Any]:
    """Time every case; the answer holds a `record`, or the `fault` of the candidate that ended the timing, or `more`:
    further rounds need inputs that are better drawn by `prepare`, for the same holder, while others have the device
    too. The same request goes on then.

    The record of a runner that could not measure has no case, and the reason in `device["unmeasured"]`.
    """
    place = judge.holders.setdefault(holder, Holder())
    pending, place.timing = place.timing, None
    try:
        if pending is None:
            tools = instruments or judge.instruments.setdefault(session.device, instruments_for(session.device))
            steps = _time_cases(judge, session, cases, holder, Options.read(plan), tools, channel)
            draw = next(steps)
        else:
            steps = pending[0]
            draw = steps.send(channel)
    except StopIteration as end:
        answer: dict[str, Any] = end.value
        return answer
    place.timing = steps, draw
    return {"record": None, "more": True}


def _time_cases(
    judge: Judge,
    session: Session,
    cases: Sequence[tuple[int, Case]],
    holder: str,
    options: Options,
    tools: Instruments,
    channel: socket.socket,
) -> Generator[Draw, socket.socket, dict[str, Any]]:
    timings: list[CaseTiming] = []
    parts: list[Speedup] = []
    try:
        for index, case in cases:
            course = Course(judge, session, index, case, holder, options, tools, channel)
            timing, part = yield from course.run()
            channel = course.channel or channel
            timings.append(timing)
            parts.append(part)
    except Unmeasured as error:
        record = TimeRecord((), None, "", options.baseline, {**tools.state(), "unmeasured": str(error)})
        return {"record": codec.to_json(record)}
    except CandidateFault as fault:
        return {"record": None, "fault": {"status": fault.status, "message": fault.message}}
    whole = geometric_mean(parts) if parts else None
    record = TimeRecord(
        tuple(timings),
        whole.value if whole else None,
        whole.label if whole else "",
        options.baseline,
        dict(tools.state()),
    )
    return {"record": codec.to_json(record)}


def prepare(
    judge: Judge, session: Session, cases: Sequence[tuple[int, Case]], plan: Mapping[str, Any], holder: str = ""
) -> None:
    """Draw the inputs of the rounds that every timing has, and their answers, as far as a quarter of the cache holds
    them: what is kept by then is not drawn while the device is held alone. For a holder whose timing has asked for
    more, draw that."""
    place = judge.holders.get(holder)
    if place is not None and place.timing is not None:
        place.timing[1]()
        return
    options = Options.read(plan)
    tools = judge.instruments.setdefault(session.device, instruments_for(session.device))
    left = judge.caches[session.device].limit // 4
    for index, case in cases:
        course = Course(judge, session, index, case, "", options, tools, None)
        sets = course.rotation()
        for number in range(MIN_ROUNDS + 1):
            left -= course.draw(number, sets)
            if left < 0:
                break
        if tools.cache_bytes():  # a host has no floor
            roofline.prepare(session, case, tools)
        if left < 0:
            return


@dataclass
class Course:
    """The timing of one case, from the first batch to the last."""

    judge: Judge
    session: Session
    index: int
    case: Case
    holder: str
    options: Options
    tools: Instruments
    channel: socket.socket | None
    candidate: list[tuple[int, ...]] = field(default_factory=list)
    baseline: list[tuple[int, ...]] = field(default_factory=list)
    wall_ns: int = 0
    related: tuple[int, ...] = ()
    bound: str = ""
    repeats: int = 0

    def run(self) -> Generator[Draw, socket.socket, tuple[CaseTiming, Speedup]]:
        """Settle the method, test the claim against a long batch, then alternate until the answer is clear.

        Gives what draws further inputs where these are not kept yet, and gets the runner's channel to go on with.
        Raises CandidateFault, Unmeasured.
        """
        sets = self.rotation()
        first = self._candidate(0, sets, 1, self._best(), first=True)
        method = first.timing.method
        claimed = float(median(first.timing.samples_ns))
        floor = self._floor_ns()
        claims.check_floor(claimed, floor, self.bound)
        further = int(min(max(LONG_NS / claimed, 1), MAX_FURTHER))
        steady = self._candidate(0, sets, 1, method)
        long = self._candidate(0, sets, 1 + further, method)
        claimed = float(median(long.timing.samples_ns))
        claims.check_further_calls(claimed, further, steady.wall_ns, long.wall_ns)
        self._baseline(0, sets, method, warm=True)
        result = yield from self._rounds(sets, method)
        samples = [s for batch in self.candidate for s in batch]
        claims.check_floor(float(median(samples)), floor, self.bound)
        timing = CaseTiming(
            self.case.name,
            tuple(samples),
            tuple(s for batch in self.baseline for s in batch),
            method,
            result.value,
            result.low,
            result.high,
            result.label,
            self.wall_ns,
            floor,
        )
        return timing, result

    def _rounds(self, sets: int, method: Method) -> Generator[Draw, socket.socket, Speedup]:
        spent = 0.0
        seed = self.session.seed(self.case, "time/bootstrap")
        chance = secrets.SystemRandom()
        keeps = True
        for number in range(1, MAX_ROUNDS + 1):
            if number > MIN_ROUNDS and keeps and not self._is_drawn(number, sets):
                self.channel = yield partial(self._draw_further, number, sets)
                keeps = self._is_drawn(number, sets)  # inputs that are too large to be kept are drawn as they come
            begun = time.monotonic()
            turns = [self._time_candidate, self._time_baseline]
            chance.shuffle(turns)
            for turn in turns:
                turn(number, sets, method)
            spent += time.monotonic() - begun
            if number < MIN_ROUNDS:
                continue
            result = speedup(self.baseline, self.candidate, seed)
            width = (result.high - result.low) / result.value
            if width < NARROW or (width < SETTLED and result.label != "unclear"):
                break
            if spent > self.options.budget_s:
                break
        return result

    def draw(self, number: int, sets: int) -> int:
        """Draw the inputs of a round and work out their answers: the bytes of both."""
        drawn = 0
        for _, case, phase, entry in self.entries(number, sets):
            expected = self.session.expected(case, phase)
            drawn += entry.packed.nbytes + 2 * sum(o.nbytes for o in expected.outputs)
        return drawn

    def _draw_further(self, number: int, sets: int) -> None:
        for further in range(number, min(number + AHEAD, MAX_ROUNDS + 1)):
            self.draw(further, sets)

    def _is_drawn(self, number: int, sets: int) -> bool:
        chosen = siblings.choose(self.session, self.index, number, sets, self.related)
        return all(
            self.session.is_kept(self.session.cases[index], f"time/{number}/{n}") for n, index in enumerate(chosen)
        )

    def _time_candidate(self, number: int, sets: int, method: Method) -> None:
        # A call that writes its inputs is right on each set once only, so that these calls are not warmed up.
        batch = self._candidate(number, sets, 0 if self.session.writes else 1, method)
        self.candidate.append(batch.timing.samples_ns)
        self.wall_ns += batch.wall_ns

    def _time_baseline(self, number: int, sets: int, method: Method) -> None:
        self.baseline.append(tuple(self._baseline(number, sets, method)))

    def _best(self) -> Method:
        """The best method of this device that is no better than what was asked for. Raises UsageError without one."""
        methods = self.tools.methods()
        allowed = METHODS[METHODS.index(self.options.method) :] if self.options.method in METHODS else METHODS
        for method in allowed:
            if method in methods:
                return method
        raise UsageError(f"time: this device has no times by {self.options.method}, only by {', '.join(methods)}")

    def entries(self, number: int, sets: int, attempt: int = 0) -> list[tuple[int, Case, str, Entry]]:
        """Index, case, phase and inputs of each set of a round; one set has the values of another case of the task."""
        chosen = siblings.choose(self.session, self.index, number, sets, self.related)
        part = f"{number}.{attempt}" if attempt else str(number)
        cases = [(index, self.session.cases[index], f"time/{part}/{n}") for n, index in enumerate(chosen)]
        return [(index, case, phase, self.session.entry(case, phase)) for index, case, phase in cases]

    def _candidate(self, number: int, sets: int, warmup: int, method: Method, first: bool = False) -> Batch:
        """One batch in the runner by this method, repeated on other inputs while it cannot be measured.

        first: a backend that always measures by a lesser method may say so. Raises CandidateFault, Unmeasured.
        """
        reason = ""
        for attempt in range(ATTEMPTS):
            batch = self._ask(number, sets, warmup, method, attempt)
            if not batch.timing.failed and (first or batch.timing.method == method):
                return batch
            reason = batch.timing.failed or f"times by {batch.timing.method} after times by {method}"
            self.repeats += 1
            if self.repeats > REPEATS:
                break
        raise Unmeasured(reason)

    def _ask(self, number: int, sets: int, warmup: int, method: Method, attempt: int) -> Batch:
        """One batch in the runner on the fresh inputs of a round; every kept output of a measured one is compared."""
        holder = self.judge.holders.setdefault(self.holder, Holder())
        wanted = []
        for index, case, phase, entry in self.entries(number, sets, attempt):
            wanted.append(((self.session.key, index, phase), entry, self.session.expected(case, phase)))
        bundles, fds = lending.lend(holder, wanted, len(self.session.writes), self.session.device)
        view = self.session.views[self.index]
        plan = TimingPlan(sets, warmup, method)
        nonce = secrets.randbits(53)
        assert self.channel is not None  # only `prepare` has none, and it asks for nothing
        batch = claims.ask(self.channel, view, plan, bundles, fds, nonce, self.options.timeout_s, self.tools.wall)
        if batch.timing.failed or (self.session.writes and warmup):
            return batch
        arena.synchronize(self.session.device)
        if several.all_right(self.session, holder, holder.places, batch.outputs):
            return batch
        for (key, _, _), outputs in zip(wanted, batch.outputs):
            case = self.session.cases[key[1]]
            if self.judge.passes(self.session, case, key, self.holder, outputs):
                continue
            comparison, _, tampered = self.judge.judge_outputs(self.session, case, key, self.holder, outputs)
            if tampered:
                raise CandidateFault("tampered", tampered)
            if not comparison.ok:
                raise CandidateFault(
                    "wrong_result", f"{case.name}: right when checked, wrong when timed: {comparison.problem}"
                )
        return batch

    def _baseline(self, number: int, sets: int, method: Method, warm: bool = False) -> list[int]:
        """One batch of the reference in the judge, on the inputs of a round in fresh memory."""
        calls: list[Call] = []
        for *_, entry in self.entries(number, sets):
            values = entry.packed.values(arena.duplicate(entry.packed.image))
            calls.append(prepare_call(self.session.module, values, entry.model, self.options.baseline))
        with self.session.measuring():
            calls[0]()
            if warm:
                for call in calls:
                    call()
            arena.synchronize(self.session.device)
            times = self.tools.measure(calls, method)
            if method != self.tools.methods()[0]:
                # A judge whose recorder fails as well has nothing better to go by.
                with suppress(DeviceLost):
                    times = min(times, self.tools.measure(calls, self.tools.methods()[0]), key=median)
        return [max(t, 1) for t in times]

    def rotation(self) -> int:
        """How many input sets a batch rotates over; which other cases take part in it is known from then on."""
        self.related = siblings.find(self.session, self.index)
        entry = self.session.entry(self.case, "check")
        expected = self.session.expected(self.case, "check")
        one = max(entry.packed.nbytes + 2 * sum(o.nbytes for o in expected.outputs), 1)
        wanted = 2 * self.tools.cache_bytes() // one + 2
        return int(max(min(max(wanted, MIN_SETS), MAX_SETS, MAX_BYTES // one), 1))

    def _floor_ns(self) -> int | None:
        """The least time that a call can take on this device, None when not known; `bound` is then what takes it."""
        floor, self.bound = roofline.floor(self.session, self.case, self.tools) or (None, "")
        return floor
