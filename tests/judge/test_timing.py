"""Timing over a real channel: an honest runner is labelled right, and each lie about times is found out."""

from __future__ import annotations

import os
import random
import socket
import threading
import time

import pytest
from kengine import codec, wire
from kengine.errors import DeviceLost
from kengine.judge import claims, clock, statistics, timing
from kengine.judge.clock import HostInstruments
from kengine.judge.session import Session
from kengine.model import TimeRecord, Timing, TimingPlan

torch = pytest.importorskip("torch")

SOURCE = """
import torch, time
def make_inputs(seed, device):
    return [torch.randn(64, 64, generator=torch.Generator(device).manual_seed(seed), device=device)]
def reference(x):
    time.sleep(0.002)
    return x.cumsum(-1)
"""


class Runner(threading.Thread):
    """Plays a runner that is asked for times; `lie` changes the reply."""

    def __init__(self, lent_type, candidate, lie=None, results=None):
        super().__init__(daemon=True)
        self.ours, self.channel = socket.socketpair()
        self.lent_type = lent_type
        self.candidate = candidate
        self.lie = lie
        self.results = results or (lambda value, args: [value])
        self.plans = []
        self.seen = []

    def run(self):
        with self.ours:
            while True:
                try:
                    request, fds = wire.receive(self.ours)
                except wire.WireError:
                    return
                reply = self.reply(request, fds)
                wire.close_all(fds)
                if reply is None:
                    return
                try:
                    wire.send(self.ours, reply)
                except wire.WireError:  # the judge has given up
                    return

    def reply(self, request, fds):
        assert request["op"] == "time"
        plan = codec.from_json(request["plan"], TimingPlan)
        self.plans.append(plan)
        lent = [self.lent_type(b, os.dup(fds[0])) for b in request["bundles"]]
        self.seen.append([bytes(x.args[0].numpy().tobytes()) for x in lent])
        for n in range(plan.warmup):
            self.candidate(*lent[n % len(lent)].args)
        samples, results = [], {}
        for n in range(plan.calls):
            bundle = lent[n % len(lent)]
            begun = time.perf_counter_ns()
            results[n % len(lent)] = self.candidate(*bundle.args)
            samples.append(time.perf_counter_ns() - begun)
        outputs = [bundle.describe(self.results(results[n], bundle.args)) for n, bundle in enumerate(lent)]
        made = Timing(tuple(samples), "wall", plan.calls)
        reply = {"n": request["n"], "ok": True, "timing": codec.to_json(made), "outputs": outputs}
        return self.lie(reply) if self.lie else reply


@pytest.fixture
def measure(bench, make_task, lent_type):
    def run(candidate, lie=None, source=SOURCE, plan=None, instruments=None, results=None, limit=1, **spec):
        opened = bench.open(make_task(source, **spec), cases=limit)
        assert opened["ok"], opened
        runner = Runner(lent_type, candidate, lie, results)
        runner.start()
        if instruments is not None:
            bench.judge.instruments["cpu"] = instruments
        message = {
            "op": "time",
            "task_id": opened["task_id"],
            "cases": [0],
            "holder": "r1",
            "plan": plan or {"budget_s": 0.3, "timeout_s": 5.0},
        }
        runner.drawn = 0
        try:
            answer, _ = bench.judge.answer(message, [runner.channel.fileno()])
            while answer.get("more"):
                runner.drawn += 1
                assert bench.judge.answer({**message, "op": "prepare"}, [])[0]["ok"]
                answer, _ = bench.judge.answer(message, [runner.channel.fileno()])
        finally:
            runner.channel.close()
            runner.join(10)
        assert answer["ok"], answer
        return answer, runner

    return run


def test_faster(measure):
    answer, runner = measure(lambda x: x.cumsum(-1))
    record = codec.from_json(answer["record"], TimeRecord)
    (case,) = record.cases
    assert case.label == record.label == "faster" and record.baseline == "eager"
    assert record.speedup == pytest.approx(case.speedup) and case.speedup > 3 and case.low <= case.speedup <= case.high
    assert len(case.candidate_ns) == len(case.baseline_ns) >= timing.MIN_ROUNDS * timing.MIN_SETS
    assert case.wall_ns >= sum(case.candidate_ns) and case.method == "wall" and case.floor_ns is None
    contents = [content for batch in runner.seen[3:] for content in batch]
    assert len(set(contents)) == len(contents), "a timed call saw inputs that an earlier one had seen"


def test_slower_and_same(measure):
    def slow(x):
        time.sleep(0.006)
        return x.cumsum(-1)

    answer, _ = measure(slow)
    assert answer["record"]["label"] == "slower" and 0.2 < answer["record"]["speedup"] < 0.6

    class Even(HostInstruments):
        def measure(self, calls, method):
            for call in calls:
                call()
            return [1000 + n for n in range(len(calls))]

    def even(reply):
        count = len(reply["timing"]["samples_ns"])
        return {**reply, "timing": {**reply["timing"], "samples_ns": [1000 + n for n in range(count)]}}

    answer, _ = measure(lambda x: x.cumsum(-1), even, instruments=Even())
    assert answer["record"]["label"] == "same" and answer["record"]["speedup"] == 1.0


def patched(**fields):
    def lie(reply):
        return {**reply, "timing": {**reply["timing"], **fields}}

    return lie


PASSED = {"status": "passed", "message": ""}
LIES = {
    "zero": (patched(samples_ns=[0, 1, 1, 1]), "not above 0"),
    "negative": (patched(samples_ns=[-5, 1, 1, 1]), "not above 0"),
    "too few": (patched(samples_ns=[100]), "1 times for 4 calls"),
    "too many": (patched(samples_ns=[100] * 9), "9 times for 4 calls"),
    "floats": (patched(samples_ns=[1.5] * 4), "a timing that is none"),
    "longer than the clock": (patched(samples_ns=[10**11] * 4), "add up to"),
    "absurd": (patched(samples_ns=[10**15] * 4), "absurdly long"),
    "better method": (patched(method="activity"), "times by activity, asked for was wall"),
    "launches": (patched(launches=-1), "negative"),
    "failed with times": (patched(failed="no recorder"), "times, and a reason why there are none"),
    "failed with launches": (patched(failed="no recorder", samples_ns=[], launches=3), "a reason why there are none"),
    "failed by a better method": (patched(failed="no", samples_ns=["x"], method="activity"), "a timing that is none"),
    "unknown key": (lambda r: {**r, "speedup": 9}, "the keys"),
    "nonce": (lambda r: {**r, "n": r["n"] + 1}, "nobody asked for"),
    "nonce as float": (lambda r: {**r, "n": float(r["n"])}, "nobody asked for"),
    "no ok": (lambda r: {"n": r["n"]}, "nobody asked for"),
    "no outputs": (lambda r: {**r, "outputs": []}, "outputs of another number"),
    "garbage outputs": (lambda r: {**r, "outputs": [[{"k": "pickle"}]] * 4}, "unknown kind"),
    "false fault": (lambda r: {"n": r["n"], "ok": False, "fault": PASSED}, "a failure that is none"),
    "no fault": (lambda r: {"n": r["n"], "ok": False}, "a failure that is none"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_lies_are_tampering(measure, name):
    lie, problem = LIES[name]
    answer, _ = measure(lambda x: x.cumsum(-1), lie)
    assert answer["record"] is None
    assert answer["fault"]["status"] == "tampered", answer
    assert problem in answer["fault"]["message"], answer


def test_work_outside_the_timed_part_is_found(measure):
    def slow(x):
        time.sleep(0.003)
        return x.cumsum(-1)

    answer, _ = measure(slow, patched(samples_ns=[1500] * 4))
    assert answer["fault"]["status"] == "tampered" and "each further call takes" in answer["fault"]["message"]


def test_wrong_answers_when_timed(measure):
    calls = [0]

    def lazy(x):
        calls[0] += 1
        return x.cumsum(-1) if calls[0] < 40 else torch.zeros_like(x)

    answer, _ = measure(lazy)
    assert answer["fault"]["status"] == "wrong_result" and "wrong when timed" in answer["fault"]["message"]
    assert "all of it is zero" in answer["fault"]["message"]


def test_remembered_answers_are_wrong(measure):
    memory = {}

    def replay(x):
        key = tuple(x.shape)
        if key not in memory:
            memory[key] = x.cumsum(-1)
        return memory[key]

    answer, _ = measure(replay)
    assert answer["fault"]["status"] == "wrong_result"


def test_honest_fault_death_and_silence(measure):
    fault = {"status": "launch_failed", "message": "line 3: no", "log": "", "line": 3}
    answer, _ = measure(lambda x: x, lambda r: {"n": r["n"], "ok": False, "fault": fault})
    assert answer["fault"] == {"status": "launch_failed", "message": "line 3: no"}
    answer, _ = measure(lambda x: x, lambda r: None)
    assert answer["fault"]["status"] == "crashed"

    def hang(x):
        time.sleep(1.5)
        return x

    answer, _ = measure(hang, plan={"budget_s": 0.3, "timeout_s": 0.5})
    assert answer["fault"]["status"] == "timed_out"


def test_in_place_tasks_are_timed_on_each_input_once(measure):
    source = SOURCE.replace("return x.cumsum(-1)", "x.add_(1.0)")
    written = lambda value, args: [None, args[0]]  # noqa: E731
    answer, runner = measure(lambda x: x.add_(1.0), source=source, results=written, writes=("x",))
    assert answer["record"]["label"] == "faster", answer
    assert {p.warmup for p in runner.plans[3:]} == {0}


class Recorder(HostInstruments):
    """A device with a recorder, by which each call of the reference takes 2000 ns; 5000 ns between events."""

    def __init__(self, broken=False):
        self.asked = []
        self.broken = broken

    def methods(self):
        return ("activity", "event", "wall")

    def measure(self, calls, method):
        self.asked.append(method)
        if method == "activity" and self.broken:
            raise DeviceLost("no recorder")
        for call in calls:
            call()
        return [{"activity": 2000, "event": 5000}[method] + n for n in range(len(calls))]


QUICK = SOURCE.replace("    time.sleep(0.002)\n", "")


def failing(at, why="the recorder broke", method="activity", instead=None):
    """Times of 1000 ns by `method`, and at these batches (counted from 0) a reason, or what is patched instead."""
    count = [0]

    def lie(reply):
        number, count[0] = count[0], count[0] + 1
        samples = [1000 + n for n in range(len(reply["timing"]["samples_ns"]))]
        timing = {"samples_ns": samples, "method": method, "launches": 0, "failed": ""}
        if number in at:
            timing |= instead or {"samples_ns": [], "failed": why}
        outputs = reply["outputs"] if number not in at or instead else [[]] * len(samples)
        return {**reply, "timing": timing, "outputs": outputs}

    return lie


@pytest.mark.parametrize("at", [{0}, {2, 3}, {0, 1, 4, 8}])
def test_a_batch_that_could_not_be_measured_is_asked_for_again_on_other_inputs(measure, at):
    answer, runner = measure(lambda x: x.cumsum(-1), failing(at), source=QUICK, instruments=Recorder())
    assert answer["record"]["label"] == "faster", answer
    assert answer["record"]["speedup"] == pytest.approx(2, rel=0.01)
    (case,) = answer["record"]["cases"]
    assert case["method"] == "activity" and "unmeasured" not in answer["record"]["device"]
    for n in at - {0, 1}:  # the first three batches, which test the claim, have the same inputs
        assert not set(runner.seen[n]) & set(runner.seen[n + 1])
    assert {p.method for p in runner.plans} == {"activity"}


def test_batches_cannot_be_discarded_at_will(measure):
    at = {4, 6, 8, 10, 12, 14, 16}
    answer, runner = measure(lambda x: x.cumsum(-1), failing(at), source=QUICK, instruments=Recorder())
    assert answer["record"]["device"]["unmeasured"] == "the recorder broke" and answer["record"]["cases"] == []
    assert len(runner.plans) == 4 + 2 * timing.REPEATS + 1


@pytest.mark.parametrize(("begin", "writes"), [(0, False), (1, True), (2, False), (5, True)])
def test_a_clock_that_does_not_work_is_no_accusation(measure, begin, writes):
    source = QUICK.replace("return x.cumsum(-1)", "x.add_(1.0)") if writes else QUICK
    candidate = (lambda x: x.add_(1.0)) if writes else (lambda x: x.cumsum(-1))
    spec = {"writes": ("x",), "results": lambda value, args: [None, args[0]]} if writes else {}
    lie = failing(set(range(begin, 99)), "lost\x1b[2J" + "!" * 5000)
    answer, runner = measure(candidate, lie, source=source, instruments=Recorder(), **spec)
    assert answer.get("fault") is None
    assert answer["record"]["cases"] == [] and answer["record"]["speedup"] is None
    assert answer["record"]["device"]["unmeasured"] == ("lost [2J" + "!" * 5000)[: claims._REASON]
    assert len(runner.plans) == begin + clock.ATTEMPTS


def test_another_clock_in_the_middle_is_not_believed_and_no_accusation(measure):
    lie = failing(set(range(4, 99)), instead={"method": "event"})
    answer, runner = measure(lambda x: x.cumsum(-1), lie, source=QUICK, instruments=Recorder())
    assert answer["record"]["device"]["unmeasured"] == "times by event after times by activity", answer
    assert answer["record"]["cases"] == [] and len(runner.plans) == 4 + clock.ATTEMPTS
    lie = failing({4, 5}, instead={"method": "event"})
    answer, _ = measure(lambda x: x.cumsum(-1), lie, source=QUICK, instruments=Recorder())
    assert answer["record"]["speedup"] == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("broken", [False, True])
def test_nobody_gains_by_a_lesser_clock(measure, broken):
    """The reference counts by whichever clock makes it faster, here the one that the candidate has not."""
    tools = Recorder(broken)
    plan = {"budget_s": 0.3, "timeout_s": 5.0, "method": "event"}
    lie = failing((), method="event")
    answer, runner = measure(lambda x: x.cumsum(-1), lie, source=QUICK, instruments=tools, plan=plan)
    (case,) = answer["record"]["cases"]
    assert case["method"] == "event" and {p.method for p in runner.plans} == {"event"}
    assert answer["record"]["speedup"] == pytest.approx(5 if broken else 2, rel=0.01)
    assert set(tools.asked) == {"event", "activity"}
    # So it is for a backend that has no better clock.
    answer, runner = measure(lambda x: x.cumsum(-1), failing((), method="event"), source=QUICK, instruments=Recorder())
    assert answer["record"]["cases"][0]["method"] == "event" and runner.plans[0].method == "activity"
    assert answer["record"]["speedup"] == pytest.approx(2, rel=0.01)
    assert {p.method for p in runner.plans[1:]} == {"event"}


def test_usage(bench, make_task):
    opened = bench.open(make_task(SOURCE), cases=1)
    body = {"task_id": opened["task_id"], "cases": [0], "holder": "r", "plan": {}}
    assert "one descriptor" in bench.ask("time", **body)[0]["message"]
    for plan in ({"budget_s": -1}, {"baseline": "best"}, {"budget_s": float("nan")}, {"method": "guess"}):
        with pytest.raises(Exception, match="time:"):
            timing.Options.read(plan)


def test_floor_and_further_calls():
    claims.check_floor(100.0, None)
    claims.check_floor(100.0, 105)
    with pytest.raises(Exception, match="at the memory's peak rate"):
        claims.check_floor(100.0, 200)
    claims.check_further_calls(2000.0, 100, 10_000_000, 60_000_000)  # 0.5 ms each: launches and Python
    claims.check_further_calls(1e6, 100, 0, 100 * 15_000_000)
    with pytest.raises(Exception, match="each further call"):
        claims.check_further_calls(2000.0, 100, 10_000_000, 510_000_000)


def test_labels():
    assert [statistics.label(*r) for r in ((1.1, 1.3), (0.5, 0.9), (0.99, 1.01), (0.9, 1.1), (1.0, 1.03))] == [
        "faster", "slower", "same", "unclear", "unclear",
    ]  # fmt: skip
    noise = random.Random(0)

    def batches(centre, spread, count=12):
        return [[int(noise.gauss(centre, spread)) for _ in range(4)] for _ in range(count)]

    clear = statistics.speedup(batches(20_000, 200), batches(10_000, 100), 1)
    assert clear.label == "faster" and 1.95 < clear.low <= clear.value <= clear.high < 2.05
    assert statistics.speedup(batches(10_000, 4000), batches(9_500, 4000), 1).label == "unclear"
    assert statistics.speedup(batches(10_000, 20), batches(10_010, 20), 1).label == "same"
    whole = statistics.geometric_mean([clear, statistics.speedup(batches(10_000, 50), batches(20_000, 50), 2)])
    assert whole.label == "same" and abs(whole.value - 1) < 0.02
    again = statistics.speedup([[5]], [[10]], 0)
    assert (again.low, again.value, again.high) == (0.5, 0.5, 0.5)


def test_device_clocks_are_those_of_the_runner(monkeypatch):
    asked = []

    def time_calls(calls, plan):
        asked.append((len(calls), plan))
        failed = "no library" if plan.method == "activity" else ""
        return Timing((), plan.method, failed=failed) if failed else Timing((7,) * plan.calls, plan.method)

    monkeypatch.setattr(clock, "time_calls", time_calls)
    monkeypatch.setattr(torch, "zeros", lambda *shape, device: None)
    device = clock.DeviceInstruments()
    assert device.methods() == ("event", "wall") and len(asked) == clock.ATTEMPTS
    assert device.measure([lambda: None] * 3, "event") == [7, 7, 7]
    assert asked[-1] == (3, TimingPlan(3, 0, "event")) and len(asked) == clock.ATTEMPTS + 1
    with pytest.raises(DeviceLost, match="the reference cannot be timed by activity: no library"):
        device.measure([lambda: None], "activity")


def test_device_floor_and_rotation(bench, make_task):
    class Device(HostInstruments):
        def cache_bytes(self):
            return 1 << 13

        def bandwidth(self):
            return 1e9

    opened = bench.open(make_task(SOURCE), cases=1)
    session = bench.judge.sessions[opened["task_id"]]
    course = timing.Course(bench.judge, session, 0, session.cases[0], "r", timing.Options(), Device(), None)
    assert course._floor_ns() == 64 * 64 * 4 - (1 << 13)
    assert course.rotation() == timing.MIN_SETS
    assert clock.instruments_for("cpu").methods() == ("wall",)


MIXED = [{"name": "own"}, {"name": "big", "values": "large"}, {"name": "spike", "values": "outlier"}]


def test_values_of_other_cases_are_mixed_into_each_batch(measure):
    answer, runner = measure(lambda x: x.cumsum(-1), source=SOURCE, cases=MIXED, limit=None)
    assert answer["record"] is not None, answer
    for batch in runner.seen:
        tops = [float(torch.frombuffer(bytearray(raw), dtype=torch.float32).abs().max()) for raw in batch]
        assert sum(top > 100 for top in tops) == 1, tops  # one set of several: what is measured stays the task's own


def test_a_kernel_that_tells_test_data_from_timed_data_is_caught_in_both_ways(measure):
    checked = [0]

    def only_ordinary(x):
        return x.cumsum(-1) if float(x.abs().max()) < 100 else x.clone()

    answer, _ = measure(only_ordinary, cases=MIXED, limit=None)
    assert answer["fault"]["status"] == "wrong_result", answer
    assert answer["fault"]["message"].startswith(("big: ", "spike: ")), answer
    assert "wrong when timed" in answer["fault"]["message"]

    def only_extreme(x):
        checked[0] += 1
        return x.cumsum(-1) if float(x.abs().max()) > 100 else x.clone()

    answer, _ = measure(only_extreme, cases=MIXED, limit=None)
    assert answer["fault"]["status"] == "wrong_result" and answer["fault"]["message"].startswith("own: ")


def test_every_timed_answer_is_compared(measure):
    """One wrong answer among all calls of all batches, wherever it is."""
    total = [0]
    answer, _ = measure(lambda x: total.__setitem__(0, total[0] + 1) or x.cumsum(-1), cases=MIXED, limit=None)
    assert answer["record"] is not None and total[0] > 20
    for wrong in (1, 3, 9, 14):
        calls = [0]

        def once(x, calls=calls, wrong=wrong):
            calls[0] += 1
            # A call with a set that is used again overwrites what was kept of it; the last one counts.
            return x.cumsum(-1) if calls[0] < 4 * wrong or calls[0] % 4 else x.cumsum(-1) + 1

        answer, _ = measure(once, cases=MIXED, limit=None)
        assert answer["fault"]["status"] == "wrong_result", wrong


def test_only_cases_with_the_same_arrays_are_mixed(bench, make_task):
    from kengine.judge import siblings

    source = SOURCE.replace("(64, 64", "(n, 64").replace("(seed, device)", "(seed, device, n=64)")
    cases = [
        {"name": "a"},
        {"name": "b", "values": "large"},
        {"name": "c", "values": "large", "params": {"n": 32}},
        {"name": "d", "values": "large", "layout": "strided"},
        {"name": "e", "values": "large", "dtype": "float16"},
        {"name": "f", "draw": 1},
    ]
    opened = bench.open(make_task(source.replace("time.sleep(0.002)", "pass"), cases=cases))
    session = bench.judge.sessions[opened["task_id"]]
    assert siblings.find(session, 0) == (1,) and siblings.find(session, 2) == ()
    assert siblings.choose(session, 0, 3, 1, (1,)) == [0]
    rounds = [siblings.choose(session, 0, n, 4, (1, 4)) for n in range(40)]
    assert all(r.count(0) == 3 for r in rounds)
    assert {r.index(next(i for i in r if i)) for r in rounds} == {0, 1, 2, 3}
    assert {i for r in rounds for i in r} == {0, 1, 4}
    assert rounds == [siblings.choose(session, 0, n, 4, (1, 4)) for n in range(40)]


class Noisy(HostInstruments):
    """Batches of 1000 ns and of 4000 ns by chance: no number of rounds is enough to tell two such things apart."""

    def __init__(self):
        self.chance = random.Random(7)

    def measure(self, calls, method):
        for call in calls:
            call()
        return [self.chance.choice((1000, 4000))] * len(calls)

    def lie(self, reply):
        count = len(reply["timing"]["samples_ns"])
        return {**reply, "timing": {**reply["timing"], "samples_ns": [self.chance.choice((1000, 4000))] * count}}


def test_what_further_rounds_need_is_drawn_while_nobody_is_timed(measure, monkeypatch):
    drawn_alone, drawing = [], []
    inner, prepare = Session.compute, timing.prepare

    def compute(session, case, phase, entry):
        if not drawing and phase.startswith("time/") and int(phase.split("/")[1]) > timing.MIN_ROUNDS:
            drawn_alone.append(phase)
        return inner(session, case, phase, entry)

    def prepared(*args):
        drawing.append(True)
        prepare(*args)
        drawing.clear()

    monkeypatch.setattr(Session, "compute", compute)
    monkeypatch.setattr(timing, "prepare", prepared)
    noisy = Noisy()
    plan = {"budget_s": 60.0, "timeout_s": 60.0}
    answer, runner = measure(lambda x: x.cumsum(-1), noisy.lie, source=QUICK, instruments=noisy, plan=plan)
    (case,) = codec.from_json(answer["record"], TimeRecord).cases
    assert len(case.candidate_ns) == timing.MAX_ROUNDS * timing.MIN_SETS and case.label == "unclear"
    assert runner.drawn == -(-(timing.MAX_ROUNDS - timing.MIN_ROUNDS) // timing.AHEAD) and drawn_alone == []


def test_inputs_that_are_not_kept_are_drawn_as_they_come(measure, monkeypatch):
    monkeypatch.setattr(Session, "is_kept", lambda *a: False)
    noisy = Noisy()
    plan = {"budget_s": 60.0, "timeout_s": 60.0}
    answer, runner = measure(lambda x: x.cumsum(-1), noisy.lie, source=QUICK, instruments=noisy, plan=plan)
    (case,) = codec.from_json(answer["record"], TimeRecord).cases
    assert len(case.candidate_ns) == timing.MAX_ROUNDS * timing.MIN_SETS
    assert runner.drawn == 1, "nothing is drawn twice"


def test_a_timing_that_is_given_up_is_forgotten_with_its_runner(measure, bench):
    noisy = Noisy()
    plan = {"budget_s": 60.0, "timeout_s": 5.0}
    measure(lambda x: x.cumsum(-1), noisy.lie, source=QUICK, instruments=noisy, plan=plan)
    holder = bench.judge.holders["r1"]
    holder.timing = (iter(()), lambda: None)
    bench.ask("release", holder="r1")
    assert holder.timing is None and "r1" not in bench.judge.holders
