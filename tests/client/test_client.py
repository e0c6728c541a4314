"""The client over a transport that the test holds in its hand, and over an engine of this process."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
from dataclasses import replace

import pytest
from kengine import InfraError, Plan, TargetUnavailable, TaskError, UsageError, WorkerLost
from kengine.client import Client, DeadlineExceeded, Settings, shared
from kengine.client.client import KengineWarning, close_shared
from kengine.server.protocol import Answer
from served import real_verdict
from toy_items import GOOD, candidate, descendants, item, settled


class Scripted:
    """A transport that does what a function of the request says: an Answer, or seconds to take and then answer."""

    def __init__(self, script=lambda request: None):
        self.script, self.requests, self.closed = script, [], 0

    async def judge(self, request):
        self.requests.append(request)
        result = self.script(request)
        if isinstance(result, (int, float)):
            await asyncio.sleep(result)
            result = None
        if result is not None:
            return result
        return Answer(request.id, replace(real_verdict(), candidate=request.candidate))

    async def close(self):
        self.closed += 1


def scripted(script=lambda request: None, **settings):
    transport = Scripted(script)
    return transport, Client(Settings(**settings), transport)


def error(request, name, message="m"):
    return Answer(request.id, error=name, message=message)


def test_verdicts_come_in_the_order_of_the_items():
    transport, client = scripted(lambda r: 0.1 if "# 0" in r.candidate.main.text else None)
    with client:
        judged = client.judge([item(f"# {n}\n") for n in range(5)])
    assert [j.candidate.main.text for j in judged] == [f"# {n}\n" for n in range(5)]
    assert transport.closed == 1
    assert client.judge([]) == [], "it can be used again"
    client.close()


def test_it_can_be_awaited_from_any_loop_and_called_from_any_thread():
    _, client = scripted()

    async def ask(n):
        return (await client.judge_async([item(f"# {n}\n")]))[0]

    async def within_a_running_loop():
        assert client.judge([item(GOOD)])[0].passed  # blocking, as a trainer in a notebook would
        return await asyncio.gather(*(ask(n) for n in range(3)))

    with client:
        for _ in range(2):
            assert [v.candidate.main.text for v in asyncio.run(within_a_running_loop())] == ["# 0\n", "# 1\n", "# 2\n"]
        found = []
        threads = [threading.Thread(target=lambda: found.extend(client.judge([item(GOOD)]))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert [v.status for v in found] == ["passed"] * 4


def test_equal_items_are_judged_once_at_a_time():
    transport, client = scripted(lambda r: 0.05)
    with client:
        judged = client.judge([item(GOOD), item("# other\n"), item(GOOD), item(GOOD)])
        assert len(transport.requests) == 2
        assert judged[0] == judged[2] == judged[3] and judged[1].candidate.main.text == "# other\n"
        client.judge([item(GOOD)])
    assert len(transport.requests) == 3, "a verdict is not kept: it may depend on when it was reached"


def test_a_deadline_is_each_items_own():
    _, client = scripted(lambda r: 5.0 if "slow" in r.candidate.main.text else 0.0, deadline_s=0.2)
    begun = time.monotonic()
    with client, pytest.warns(KengineWarning, match=r"a sample is masked: no verdict on task within 0\.2 s"):
        late, good = client.judge([item("# slow\n"), item(GOOD)])
    assert isinstance(late, DeadlineExceeded) and good.passed
    assert time.monotonic() - begun < 2
    _, client = scripted(lambda r: 1.0)
    with client, pytest.warns(KengineWarning):
        assert isinstance(client.judge([item(GOOD)], deadline_s=0.05)[0], DeadlineExceeded)


@pytest.mark.parametrize("name", ["InfraError", "WorkerLost", "DeviceLost", "ContractViolation", "NewError"])
def test_the_machines_faults_are_retried(name):
    transport, client = scripted(lambda r: error(r, name) if r.id.endswith(".0") else None)
    with client:
        assert client.judge([item(GOOD)])[0].passed
    first, second = (r.id for r in transport.requests)
    assert first != second, "a new attempt is a new request: the server remembers the old answer"


def test_a_machine_that_keeps_failing_masks_the_sample():
    transport, client = scripted(lambda r: error(r, "WorkerLost", "gone"), retries=2)
    with client, pytest.warns(KengineWarning, match="gone"):
        (lost,) = client.judge([item(GOOD)])
    assert type(lost) is WorkerLost and str(lost) == "gone" and len(transport.requests) == 3


def test_the_servers_deadline_is_not_tried_again():
    transport, client = scripted(lambda r: error(r, "DeadlineExceeded"))
    with client, pytest.warns(KengineWarning):
        assert isinstance(client.judge([item(GOOD)])[0], DeadlineExceeded)
    assert len(transport.requests) == 1


@pytest.mark.parametrize(("name", "kind"), [("TaskError", TaskError), ("UsageError", UsageError),
                                            ("TargetUnavailable", TargetUnavailable)])  # fmt: skip
def test_what_will_not_get_better_is_raised(name, kind):
    transport, client = scripted(lambda r: error(r, name, "why"))
    with client, pytest.raises(kind, match="why"):
        client.judge([item(GOOD), item("# 2\n")])
    assert len(transport.requests) == 2


def test_broken_tasks_can_be_left_out():
    _, client = scripted(lambda r: error(r, "TaskError") if "2" in r.candidate.main.text else None, broken_task="mask")
    with client, pytest.warns(KengineWarning, match="samples of task task are masked"):
        good, broken = client.judge([item("# 1\n"), item("# 2\n")])
    assert good.passed and broken is None


def test_a_run_does_not_go_on_blind():
    _, client = scripted(lambda r: error(r, "WorkerLost", "gone"), retries=0, patience_s=0.3)
    with client:
        with pytest.warns(KengineWarning):
            assert isinstance(client.judge([item(GOOD)])[0], InfraError)
        time.sleep(0.35)
        with pytest.raises(WorkerLost, match="no verdict for 0 s, so the run cannot go on; the last problem was: gone"):
            client.judge([item(GOOD)])


def test_settings():
    settings = Settings(target="toy:cpu", token="secret")
    assert pickle.loads(pickle.dumps(settings)) == settings and hash(settings) and "secret" not in repr(settings)
    for wrong, said in [
        ({"deadline_s": 0}, "deadline_s: want seconds above 0, got 0"),
        ({"patience_s": True}, "patience_s: want seconds above 0, got True"),
        ({"deadline_s": float("nan")}, "deadline_s"),
        ({"broken_task": "skip"}, "allowed: 'raise', 'mask'"),
        ({"url": "127.0.0.1:8471"}, "want the address of a kengine server such as http://"),
    ]:
        with pytest.raises(UsageError, match=said):
            Settings(**wrong)
    with pytest.raises(UsageError, match="say where to judge"):
        Client(Settings())


def test_settings_from_the_environment(monkeypatch):
    monkeypatch.setenv("KENGINE_TARGET", "toy:cpu")
    monkeypatch.setenv("KENGINE_DEADLINE_S", "12.5")
    assert Settings.read() == Settings(target="toy:cpu", deadline_s=12.5)
    assert Settings.read({"url": "http://x"}) == Settings(url="http://x", deadline_s=12.5)
    assert Settings.read({"plan": {"cases": 2}}).plan == Plan(cases=2)
    with pytest.raises(UsageError, match="unknown setting 'targt'"):
        Settings.read({"targt": "toy:cpu"})
    monkeypatch.setenv("KENGINE_WORKERS", "many")
    with pytest.raises(UsageError, match="KENGINE_WORKERS is 'many', want a number"):
        Settings.read()


def test_in_this_process():
    before = len(descendants())
    settings = Settings(target="toy:cpu", workers=2, plan=Plan(cases=1))
    with Client(settings) as client:
        judged = client.judge([item(GOOD), item("def candidate(:")])
        assert [j.status for j in judged] == ["passed", "compile_failed"]
        with pytest.warns(KengineWarning):
            (late,) = client.judge([item(candidate("import time; time.sleep(2)"))], deadline_s=0.3)
        assert isinstance(late, DeadlineExceeded)
        assert client.judge([item(GOOD)])[0].passed
    assert settled(before)


def test_a_candidate_that_hangs_is_at_fault_before_the_time_is_over():
    settings = Settings(target="toy:cpu", workers=1, plan=Plan(cases=1), deadline_s=16.0)
    with Client(settings) as client:
        (verdict,) = client.judge([item(candidate("while True: pass"))])
    assert verdict.status == "timed_out", "a longer launch_timeout_s would have masked it"


def test_a_target_that_is_not_there_is_raised_at_once():
    with Client(Settings(target="toy:none")) as client, pytest.raises(UsageError, match="unknown target toy:none"):
        client.judge([item(GOOD)])


def test_after_a_fork_the_child_has_its_own(tmp_path):
    client = shared(Settings(target="toy:cpu", workers=1, plan=Plan(cases=1)))
    assert client is shared(Settings(target="toy:cpu", workers=1, plan=Plan(cases=1)))
    assert client.judge([item(GOOD)])[0].passed
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if client.judge([item("def candidate(:")])[0].status == "compile_failed" else 2
            client.close()
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert client.judge([item(GOOD)])[0].passed
    close_shared()


def test_closing_in_a_forked_child_leaves_the_parents_alone():
    import signal

    transport, client = scripted()
    assert client.judge([item(GOOD)])[0].passed
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # nothing of the parent's answers here: to wait for it would be for ever
        client.close()
        os._exit(transport.closed)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert client.judge([item("# more\n")])[0].passed and transport.closed == 0
    client.close()
    assert transport.closed == 1


def test_who_gives_up_takes_nothing_from_those_who_wait_for_the_same():
    transport, client = scripted(lambda r: 0.3)

    async def main():
        first, second = (asyncio.ensure_future(client.judge_async([item(GOOD)])) for _ in range(2))
        await asyncio.sleep(0.1)
        first.cancel()
        return await second

    with client:
        assert asyncio.run(main())[0].passed and len(transport.requests) == 1


def test_a_server_that_restarts_is_waited_for_and_costs_no_attempt():
    answers = ["Draining", "Draining"]
    transport, client = scripted(lambda r: error(r, answers.pop()) if answers else None, retries=0)
    with client:
        assert client.judge([item(GOOD)])[0].passed
    assert len(transport.requests) == 3 and len({r.id for r in transport.requests}) == 1


def test_an_item_without_time_for_another_attempt_is_lost_with_the_real_reason():
    transport, client = scripted(lambda r: error(r, "WorkerLost", "gone"), retries=100)
    with client, pytest.warns(KengineWarning, match="gone"):
        (lost,) = client.judge([item(GOOD)], deadline_s=0.04)
    assert type(lost) is WorkerLost and len(transport.requests) == 1


def test_of_several_errors_the_first_is_raised_and_no_other_is_reported_as_lost(caplog):
    import gc

    _, client = scripted(lambda r: error(r, "UsageError", r.candidate.main.text.strip()))
    with client, pytest.raises(UsageError, match="# 0"):
        client.judge([item(f"# {n}\n") for n in range(3)])
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


class TestInThisProcess:
    """The transport over a desk of this process."""

    @pytest.fixture
    def local(self):
        from itertools import count

        from kengine.client.local import Local
        from served import StubEngine, desk_of

        engine, made = StubEngine(), Local.__new__(Local)
        made._desk, made._numbers = desk_of(engine, keep=0), count()
        made.engine = engine
        yield made
        engine.gate.set()
        made._desk.close()

    def test_an_item_whose_caller_has_gone_is_taken_back(self, local):
        from served import request

        local.engine.gate.clear()

        async def main():
            first, second = (asyncio.ensure_future(local.judge(request(n, f"# {n}\n"))) for n in range(2))
            while local._desk.load() != (1, 1):
                await asyncio.sleep(0.005)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            assert local._desk.load() == (0, 1)
            local.engine.gate.set()
            return await first

        assert asyncio.run(main()).verdict.candidate.main.text == "# 0\n" and len(local.engine.seen) == 1

    def test_an_id_that_is_sent_again_is_another_attempt(self, local):
        from served import request

        async def main():
            return await asyncio.gather(*(local.judge(request("same", text)) for text in ("# a\n", "# b\n", "# b\n")))

        assert [a.verdict.candidate.main.text for a in asyncio.run(main())] == ["# a\n", "# b\n", "# b\n"]
        assert len(local.engine.seen) == 3

    def test_its_processes_are_there_before_the_first_item(self):
        from kengine.client.local import Local

        local = Local(Settings(target="toy:cpu", workers=1, deadline_s=20.0))
        try:
            (engine,) = local._desk.engines.values()
            assert any(engine.processes().values())
            assert engine.plan.launch_timeout_s <= 10.0 and engine.plan.compile_timeout_s <= 10.0
        finally:
            asyncio.run(local.close())
