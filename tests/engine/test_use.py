"""Ways to use the engine: threads, a running event loop, a spawned process, after a fork, one call."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading

import kengine
import pytest
from kengine import Engine, Plan, TargetUnavailable, UsageError, codec
from toy_items import GOOD, TASK, candidate, descendants, item, settled


@pytest.fixture(scope="module")
def engine():
    with Engine(target="toy:cpu", plan=Plan(cases=2), workers=2) as engine:
        yield engine


def test_verify_is_one_call_and_leaves_nothing():
    before = len(descendants())
    verdict = kengine.verify(GOOD, TASK, target="toy:cpu")
    assert verdict.passed
    assert not verdict.self_referenced
    assert verdict.emulated
    assert str(verdict.target) == "toy:cpu"
    assert settled(before)


def test_candidate_and_task_are_paths_texts_or_a_record(tmp_path):
    from kengine import tasks
    from kengine.engine.single import _read

    (tmp_path / "a.py").write_text(GOOD)
    (tmp_path / "task.py").write_text(TASK)
    files, judges = ("a.py", GOOD), ("task.py", TASK, tasks.parse_task(TASK))
    for file in files:
        for judge in judges:
            asked = [
                each if isinstance(each, kengine.Task) or "\n" in each else tmp_path / each for each in (file, judge)
            ]
            for given in (asked, [str(each) if isinstance(each, type(tmp_path)) else each for each in asked]):
                found = _read(*given)
                assert found.task == judges[-1] and found.candidate.main.text == GOOD
    assert kengine.verify(str(tmp_path / "a.py"), judges[-1], target="toy:cpu", plan=Plan(cases=1)).passed
    with pytest.raises(UsageError, match="needs its task as a record too"):
        kengine.verify(item(GOOD).candidate, TASK, target="toy:cpu")
    with pytest.raises(UsageError, match=r"nowhere\.py: no such file"):
        kengine.verify("nowhere.py", TASK, target="toy:cpu")


def test_a_single_file_is_marked_self_referenced(engine):
    verdict = engine.verify(kengine.tasks.parse(TASK + GOOD, "single.py"))
    assert verdict.passed, verdict.message
    assert verdict.self_referenced


def test_from_many_threads(engine):
    results = {}

    def work(n):
        text = GOOD if n % 2 else GOOD.replace("x[rows] + y[rows]", "x[rows]")
        results[n] = engine.verify(item(text + f"\n# {n}")).status.value

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert results == {n: "passed" if n % 2 else "wrong_result" for n in range(8)}


def test_inside_a_running_event_loop(engine):
    async def main():
        plain = engine.verify(item(GOOD)).status.value
        many = [v.status.value async for v in engine.verify_many([item(GOOD + f"\n# {n}") for n in range(4)])]
        return plain, many

    assert asyncio.run(main()) == ("passed", ["passed"] * 4)


def in_another_process(queue):
    verdict = kengine.verify(GOOD, TASK, target="toy:cpu")
    queue.put(verdict.status.value)


def test_in_a_spawned_process():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=in_another_process, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == "passed"
    process.join(10)
    assert process.exitcode == 0
    queue.close()
    queue.join_thread()


def test_after_a_fork_the_child_has_processes_of_its_own(engine):
    assert engine.verify(item(GOOD)).passed
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, engine.verify(item(GOOD)).status.value.encode())
            engine.close()
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    assert os.read(read, 100) == b"passed"
    os.close(read)
    assert engine.verify(item(GOOD)).passed


def test_the_same_salt_gives_the_same_inputs_and_another_gives_others():
    digests = []
    for salt in ("0" * 32, "0" * 32, "1" * 32):
        with Engine(target="toy:cpu", plan=Plan(cases=1, salt=salt), workers=1) as engine:
            verdict = engine.verify(item(GOOD))
        assert verdict.salt == salt
        digests.append({k: v for k, v in verdict.digests.items() if k.startswith("check/")})
    assert digests[0] == digests[1] != digests[2]


def test_several_cases_and_keep_going():
    text = candidate().replace("x[rows] + y[rows]", "x[rows] + y[rows] * 1.5")
    with Engine(target="toy:cpu", plan=Plan(cases=3), workers=1) as engine:
        first = engine.verify(item(text))
    with Engine(target="toy:cpu", plan=Plan(cases=3, keep_going=True), workers=1) as engine:
        every = engine.verify(item(text))
    assert first.stages.compare is not None and every.stages.compare is not None
    assert len(first.stages.compare.comparisons) == 1
    assert len(every.stages.compare.comparisons) == 3
    assert first.status == every.status == "wrong_result"


def test_an_emulator_has_no_time():
    with pytest.raises(UsageError, match="emulator"):
        Engine(target="toy:cpu", plan=Plan(time=True))


def test_no_emulator_where_a_device_is_asked_for():
    with pytest.raises(TargetUnavailable):
        Engine(backend="toy", plan=Plan(device_only=True))


def test_unknown_things_are_named():
    with pytest.raises(UsageError, match=r"toy:cpu"):
        Engine(target="toy:gpu")
    with pytest.raises(kengine.PluginError, match="nosuch"):
        Engine(backend="nosuch")
    with pytest.raises(UsageError, match="kengine backends"):
        Engine()


def test_a_verdict_that_is_read_back_equals_the_one_that_was_written(engine):
    verdict = engine.verify(item(GOOD))
    assert codec.loads(codec.dumps(verdict), kengine.Verdict) == verdict


def test_work_that_nobody_waits_for_any_longer_is_given_up(engine):
    import time
    from dataclasses import replace

    from kengine.errors import DeadlineExceeded

    slow = candidate("import time\ntime.sleep(9)")
    begun = time.monotonic()
    with pytest.raises(DeadlineExceeded, match="caller's time ended"):
        engine.verify(replace(item(slow), within_s=1.0))
    assert time.monotonic() - begun < 6
    assert engine.verify(replace(item(GOOD), within_s=60.0)).passed


def test_every_hook_call_is_printed_when_asked_for_also_those_of_a_runner(monkeypatch, capfd):
    monkeypatch.setenv("KENGINE_TRACE", "1")
    assert kengine.verify(GOOD, TASK, target="toy:cpu", plan=Plan(cases=2)).passed
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("kengine trace: ")]
    for hook, where in (("kengine_targets", ""), ("kengine_warm", "in runner"), ("kengine_compile", "in runner"),
                        ("kengine_launch", "in runner")):  # fmt: skip
        found = [line for line in lines if f" {hook} " in line]
        assert found and all(" ms by toy (kernel-engine " in line and where in line for line in found), lines
