"""Completions from a file and from an endpoint: order, retries, refusal, and no answer asked for twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from chat_server import Answer, chat_server
from kengine.curate import prompts, rows, settings
from kengine.curate.record import Judgement, Loss, Sample
from kengine.curate.reject import Reject
from kengine.curate.sample import Sampling, aim, ask_all, build, chips_of, make_teacher
from kengine.curate.stage import Context
from kengine.curate.teacher import Endpoint, Kept, Question, Replay, Reply
from kengine.errors import InfraError, UsageError
from kengine.model import Case, SourceFile, Task, TaskSpec, Tolerance

TASK = Task(
    "add",
    "function",
    '"""Adds."""\n\n# /// kengine\n# name = "add"\n# ///\n\ndef reference(x, y):\n    return x + y\n',
    spec=TaskSpec((Case("a", {"N": 4}, "float16", "strided"),), Tolerance(1e-3), category="elementwise", level=1),
)
SAMPLE = Sample("t:add", "t", "add", TASK, labels={"operator": "add", "target": "sm_90"})


def test_a_prompt_states_all_that_is_asked() -> None:
    (system, user) = prompts.build(
        replace(SAMPLE, backend="triton"),
        tags=("backend", "category", "level", "difficulty"),
        system="You write kernels.",
        reasoning=True,
    )
    assert system == {"role": "system", "content": "You write kernels."}
    text = user["content"]
    assert text.startswith(
        "[backend: triton] [category: elementwise] [level: 1]\nWrite a Triton kernel for the operator `add`."
    )
    assert "def reference(x, y):" in text and "/// kengine" not in text
    assert "- N=4, float16, strided memory" in text and "Target: sm_90" in text
    assert "within a relative error of 0.001" in text and "<think>" in text and "`candidate`" in text
    with pytest.raises(ValueError, match="has no task"):
        prompts.build(replace(SAMPLE, task=None))


def test_a_prompt_names_the_function_of_an_answer_that_is_there() -> None:
    done = replace(SAMPLE, files=(SourceFile("candidate.py", "def run(x, y): ..."),), entry="run")
    for sample, named in ((done, "`run`"), (replace(done, files=()), "`candidate`")):
        assert f"defines a function {named} that takes" in prompts.build(sample)[0]["content"]
    native = replace(done, files=(SourceFile("candidate.cu", "__global__ void run() {}"),))
    assert "`run`" not in prompts.build(native)[0]["content"]


def test_an_instruction_is_a_part_of_the_prompt_and_not_the_whole(tmp_path) -> None:
    told = replace(
        SAMPLE, backend="triton", prompt=({"role": "system", "content": "s"}, {"role": "user", "content": "Say hi."})
    )
    asked: list[str] = []

    class Listening:
        def ask(self, question: Question) -> Reply:
            asked.append(question.messages[-1]["content"])
            return Reply("x")

        def abandon(self) -> None:
            raise AssertionError("nobody interrupts it")

    section = Sampling(model="m", k=1, backends=("triton",), concurrency=1)
    ((answered,),) = ask_all(iter([told]), Listening(), section, {"triton": "triton:sm_90"})
    (text,) = asked
    for part in (
        "[backend: triton]", "operator `add`", "def reference(x, y):", "Say hi.", "Target: sm_90", "Constraints:",
        "defines a function `candidate` that takes the inputs of `reference` and returns its result",
    ):  # fmt: skip
        assert part in text
    assert text.index("Say hi.") < text.index("Constraints:")
    assert (answered.prompt, answered.instruction) == ((), "Say hi.")
    # what is exported is what was asked
    assert prompts.build(answered)[0]["content"] == text


def test_the_target_is_always_stated() -> None:
    plain = replace(SAMPLE, backend="triton", labels={})
    judged = Judgement("triton:interpret", "passed", compiled_for=("triton:interpret", "triton:gfx942"))
    device = Judgement("triton:sm_90", "passed", emulated=False)
    for sample, said in (
        (plain, "Target: any chip that Triton runs on"),
        (replace(plain, judgements=(judged,)), "Target: triton:gfx942"),
        (replace(plain, judgements=(judged, device)), "Target: triton:gfx942, triton:sm_90"),
        (replace(plain, labels={"target": "sm_80"}, judgements=(judged,)), "Target: sm_80"),
    ):
        assert said in prompts.build(sample)[0]["content"].split("\n")


def test_chips_come_from_the_table_of_rejection() -> None:
    reject = Reject(targets=("triton:interpret",), compile_for=("triton:gfx942", "triton:sm_90"))
    made = settings.Settings(Path("c"), Path(), Path("o"), (), ("load",), {"reject": reject})
    assert chips_of(made) == {"triton": "triton:gfx942, triton:sm_90"}
    aimed = aim(replace(SAMPLE, labels={}), "triton", chips_of(made))
    assert aimed.labels["target"] == "triton:gfx942, triton:sm_90"
    assert aim(SAMPLE, "triton", chips_of(made)).labels["target"] == "sm_90"
    assert "target" not in aim(replace(SAMPLE, labels={}), "nki", chips_of(made)).labels


def last_line(task: Task, backend: str = "triton", **given) -> str:
    return prompts.build(replace(SAMPLE, task=task, backend=backend, **given))[0]["content"].rpartition("\n")[2]


WRITES = replace(TASK, source="def reference(x, out):\n    out.copy_(x)\n", spec=TaskSpec(writes=("out",)))


def test_what_an_answer_to_a_task_with_written_arguments_defines() -> None:
    text = prompts.build(replace(SAMPLE, task=WRITES, backend="triton"))[0]["content"]
    assert (
        "a function `candidate` that takes the same arguments as `reference`, writes its results into `out`, and "
        "returns nothing." in text
    )
    assert "- it writes into `out`, in place, what `reference` writes there; its other inputs stay as they are" in text
    both = replace(WRITES, source=WRITES.source + "    return x\n")
    assert "into `out`, and returns what `reference` returns." in last_line(both)


def test_what_an_answer_that_takes_its_outputs_defines() -> None:
    starred = replace(TASK, source="def run(x, y):\n    return x\n\ndef reference(*inputs):\n    return run(*inputs)\n")
    for task in (TASK, starred):
        for code, destination in (
            ("def run(x, y, out):\n    ...", True),
            ("def run(\n    x: Tuple[int, int],\n    y,\n    out,  # written\n):\n    ...", True),
            ("def run(x, y):\n    ...", False),
            ("def run(x, y, eps=1e-6, *, n=3):\n    ...", False),
            ("def run(*args):\n    ...", False),
            ("run = other", False),
        ):
            line = last_line(task, files=(SourceFile("candidate.py", code),), entry="run")
            assert ("after them one array for each result" in line) is destination, code
            assert "function `run`" in line


def test_what_answers_of_other_forms_define() -> None:
    module = replace(TASK, form="module", source="class Model: ...\n")
    assert "defines a class `ModelNew`" in last_line(module) and "ModelNew" in last_line(module, "nki")
    assert "one ```cuda block that holds the whole file" in last_line(
        TASK, "cuda", files=(SourceFile("candidate.cu", "__global__ void k() {}"),)
    )
    assert "defines one function decorated with `nki.jit` that takes the inputs" in last_line(TASK, "nki")
    kernel = (SourceFile("candidate.py", "def k(x, y): ..."),)
    assert "`nki.jit`, called `k`, that takes" in last_line(TASK, "nki", files=kernel, entry="k")
    numpy = "def forward(x):\n    return x\n\ndef transform_to_nki_inputs(inputs):\n    return inputs\n"
    assert "takes what `transform_to_nki_inputs` gives" in last_line(replace(TASK, form="numpy", source=numpy), "nki")


def test_a_reference_that_holds_the_answer_is_not_shown() -> None:
    code = "def run(x, y):\n    secret = x + y\n    return secret\n"
    task = replace(TASK, source=f"{code}\n\ndef reference(*inputs):\n    return run(*inputs)\n", self_referenced=True)
    given = replace(SAMPLE, task=task, backend="triton", files=(SourceFile("candidate.py", code),), entry="run",
                    instruction="Adds two.")  # fmt: skip
    text = prompts.build(given)[0]["content"]
    assert "secret" not in text and "It is called as `run(x, y)`." in text and "Adds two." in text
    assert "secret" in prompts.build(replace(given, task=replace(task, self_referenced=False)))[0]["content"]


def test_a_replay_tells_what_it_took(tmp_path) -> None:
    rows = [{"task": "add", "completion": "a", "prompt_tokens": 100, "completion_tokens": 50, "model": "m"},
            {"task": "add", "completion": "b", "cost": 0.5}]  # fmt: skip
    section = Sampling(replay="r", k=2, backends=("triton",), price_in=1.0, price_out=2.0)
    (found,) = ask_all(iter([SAMPLE]), replay(tmp_path, rows), section)
    assert [s.sampling.get("cost") for s in found] == [pytest.approx(2e-4), 0.5]
    assert found[0].usage() == {
        "model": "m",
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "cost": pytest.approx(2e-4),
    }


def replay(folder: Path, rows: list[dict[str, object]]) -> Replay:
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Replay(folder / "r.jsonl")


def test_replayed_completions_come_in_order(tmp_path) -> None:
    teacher = replay(
        tmp_path,
        [
            {"task": "add", "backend": "triton", "completion": "a", "model": "m", "reasoning": "r"},
            {"task": "add", "backend": "cuda", "completion": "b"},
            {"task": "add", "backend": "triton", "completion": "c"},
            {"task": "mul", "completion": "d"},
        ],
    )
    section = Sampling(replay="r", k=3, backends=("triton", "cuda"), temperature=0.5, concurrency=2)
    done = replace(SAMPLE, uid="t:done", files=(SourceFile("x.py", "x"),))
    other = replace(SAMPLE, uid="t:other", task=replace(TASK, name="other"))
    found = list(ask_all(iter([SAMPLE, done, other]), teacher, section))
    assert [[o.uid for o in each] for each in found] == [
        ["t:add~triton0", "t:add~triton1", "t:add~cuda0"],
        ["t:done"],
        ["t:other"],
    ]
    first = found[0][0]
    assert isinstance(first, Sample)
    assert (first.completion, first.reasoning, first.model, first.backend, first.parent) == (
        "a",
        "r",
        "m",
        "triton",
        "t:add",
    )
    assert first.sampling == {"number": 0, "row": 1, "temperature": 0.5}
    assert found[1][0] is done
    assert isinstance(found[2][0], Loss) and found[2][0].reason == "no_completion"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", r"r\.jsonl:1: not JSON"),
        ('{"task": "x"}', r"r\.jsonl:1: field 'completion' is missing"),
        ('{"task": 1, "completion": "x"}', r"r\.jsonl:1: field 'task' want text, got int"),
    ],
)
def test_a_broken_replay_is_told_with_its_row(tmp_path, row, said) -> None:
    (tmp_path / "r.jsonl").write_text(row + "\n")
    with pytest.raises(UsageError, match=said):
        Replay(tmp_path / "r.jsonl")


class Server(ThreadingHTTPServer):
    """Answers as OpenAI's protocol wants, after the statuses that are lined up."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.asked: list[dict[str, object]] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append({**body, "key": self.headers.get("authorization")})
            number = len(self.server.asked)
            status = self.server.statuses.pop(0) if self.server.statuses else 200
        if status == 0:
            self.close_connection = True
            self.connection.close()
            return
        message = {"role": "assistant", "content": f"answer {number}", "reasoning_content": "thought"}
        answer = (
            {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": "m-1",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30},
            }
            if status == 200
            else {"error": {"message": "no"}}
        )
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status == 429:
            self.send_header("retry-after", "0.01")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server():
    pytest.importorskip("openai", reason="needs the openai client: pip install 'kernel-engine[sampling]'")
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def endpoint(server: Server, **given) -> Endpoint:
    return Endpoint(server.url, "m", **{"pause": 0.01, "key_env": "KEY_OF_TEST", **given})


QUESTION = Question("add", "triton", 0, ({"role": "user", "content": "q"},))


def test_an_endpoint_is_asked_as_it_wants(server, monkeypatch) -> None:
    monkeypatch.setenv("KEY_OF_TEST", "secret")
    reply = endpoint(server, options={"temperature": 0.5, "extra_body": {"top_k": 3}}).ask(QUESTION)
    assert reply == Reply(
        "answer 1", "thought", "m-1", {"finish_reason": "stop", "prompt_tokens": 10, "completion_tokens": 20}
    )
    (asked,) = server.asked
    assert (asked["model"], asked["temperature"], asked["top_k"], asked["key"]) == ("m", 0.5, 3, "Bearer secret")
    assert asked["messages"] == [{"role": "user", "content": "q"}]


def test_rate_limits_and_outages_are_waited_for(server) -> None:
    server.statuses = [429, 503, 0, 500]
    reply = endpoint(server).ask(QUESTION)
    assert reply is not None and reply.text == "answer 5" and len(server.asked) == 5


def test_an_endpoint_that_dies_is_a_fault_of_the_machine(server) -> None:
    server.statuses = [503] * 9
    with pytest.raises(InfraError, match=r"no answer in 3 attempts: .*what was answered is kept, run the same command"):
        endpoint(server, retries=2).ask(QUESTION)
    assert len(server.asked) == 3


def test_every_request_tells_why_an_endpoint_was_given_up(server) -> None:
    server.statuses = [503]
    dead = endpoint(server, retries=0)
    for said in ("^http.*: no answer in 1 attempts", "given up after another request failed: no answer in 1 attempts"):
        with pytest.raises(InfraError, match=said):
            dead.ask(QUESTION)


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_told_at_once(server, status) -> None:
    server.statuses = [status]
    with pytest.raises(UsageError, match=rf"refuses the request \({status}\).*check url, model and key"):
        endpoint(server).ask(QUESTION)
    assert len(server.asked) == 1


def test_an_endpoint_that_dies_half_way_is_not_asked_twice(server, tmp_path) -> None:
    section = Sampling(
        model="m", url=server.url, k=4, backends=("triton",), retries=0, concurrency=1, price_in=1.0, price_out=2.0
    )
    made = settings.Settings(tmp_path / "c.toml", tmp_path, tmp_path / "out", (), ("load",))
    context = Context(made, tmp_path / "out")
    server.statuses = [200, 200, 503]
    stage = build(section, context)
    with pytest.raises(InfraError):
        list(stage.run(iter([SAMPLE])))
    stage.close()
    before = len(server.asked)
    stage = build(section, context)
    (found,) = stage.run(iter([SAMPLE]))
    stage.close()
    assert [s.completion for s in found[:2]] == ["answer 1", "answer 2"] and len(found) == 4
    assert len(server.asked) == before + 2
    assert found[0].sampling["cost"] == pytest.approx((10 * 1 + 20 * 2) / 1e6)
    teacher = make_teacher(section, context)
    assert isinstance(teacher, Kept)
    teacher.close()


class Counting:
    def __init__(self) -> None:
        self.count = 0

    def ask(self, question: Question) -> Reply:
        self.count += 1
        return Reply(f"{self.count}", "é", "m", {"x": 1})

    def abandon(self) -> None:
        self.count = -1


def test_kept_answers_survive_a_cut_line(tmp_path) -> None:
    path = tmp_path / "kept.jsonl"
    teacher = Counting()
    kept = Kept(teacher, path)
    questions = [Question("add", "triton", n, ()) for n in range(3)]
    first = [kept.ask(q) for q in questions]
    assert [kept.ask(q) for q in questions] == first and teacher.count == 3
    kept.close()
    data = path.read_bytes()
    path.write_bytes(data[:-9])
    again = Kept(teacher, path)
    assert [again.ask(q) for q in questions[:2]] == first[:2] and teacher.count == 3
    assert again.ask(questions[2]) == Reply("4", "é", "m", {"x": 1})
    again.close()
    assert all(json.loads(line) for line in path.read_text().splitlines()) and len(path.read_text().splitlines()) == 3


def test_what_is_abandoned_asks_nothing_more(server, tmp_path) -> None:
    server.statuses = [503] * 9
    asking = endpoint(server, retries=8, pause=60.0)
    kept = Kept(asking, tmp_path / "kept.jsonl")
    said: list[str] = []

    def ask() -> None:
        try:
            kept.ask(QUESTION)
        except InfraError as error:
            said.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    while not server.asked:
        time.sleep(0.005)
    kept.abandon()
    thread.join(timeout=10)
    assert not thread.is_alive() and said == [f"{server.url}: the run was interrupted"] and len(server.asked) == 1
    with pytest.raises(InfraError, match="the run was interrupted"):
        kept.ask(QUESTION)
    kept.close()
    assert len(server.asked) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_waits_for_no_answer(tmp_path, number, code) -> None:
    pytest.importorskip("openai", reason="needs the openai client: pip install 'kernel-engine[sampling]'")
    (tmp_path / "in.jsonl").write_bytes(rows.to_line(SAMPLE) + b"\n")
    with chat_server() as chat:
        chat.answers = [Answer("x", wait_s=120.0)]
        given = (f"url={chat.url}", "model=m", 'backends=["triton"]', "k=2")
        command = [sys.executable, "-m", "kengine", "curate", "sample", "in.jsonl", "-o", "out.jsonl"]
        command += [part for each in given for part in ("--set", each)]
        process = subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        try:
            end = time.monotonic() + 60
            while len(chat.requests) < 2 and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            begun = time.monotonic()
            process.send_signal(number)
            said = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    assert process.returncode == code and "Traceback" not in said, said
    assert time.monotonic() - begun < 10, "well under a second where nothing else is to do"
    assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]


def test_answers_of_another_model_are_not_taken(tmp_path) -> None:
    teacher, path, question = Counting(), tmp_path / "kept.jsonl", Question("add", "triton", 0, ())
    texts = []
    for of in ({"model": "a"}, {"model": "b"}, {"model": "a", "temperature": 1.0}, {"model": "a"}):
        kept = Kept(teacher, path, of)
        texts.append(kept.ask(question).text)
        kept.close()
    assert texts == ["1", "2", "3", "1"]


def test_what_a_table_must_say() -> None:
    for given, said in (
        ({"replay": "a", "model": "b"}, "not both"),
        ({"k": 0}, "k: want at least 1"),
        ({"tags": ("x",)}, "tags: 'x' is not known"),
        ({"key_env": "sk-123"}, "never the key itself"),
    ):
        with pytest.raises(UsageError, match=said):
            Sampling(**given)
