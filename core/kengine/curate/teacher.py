"""Where completions come from: a file that replays them, or an endpoint that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kengine.curate import table
from kengine.curate.record import Message
from kengine.errors import InfraError, UsageError
from kengine.model import JsonValue


@dataclass(frozen=True)
class Question:
    """One completion that is wanted: for which task (by name) and backend, the n-th of its kind, and the messages."""

    task: str
    backend: str
    number: int
    messages: tuple[Message, ...]
    purpose: str = "kernel"

    @property
    def key(self) -> str:
        """What tells it apart from every other question."""
        import hashlib

        body = json.dumps([self.purpose, self.task, self.backend, self.number, self.messages], sort_keys=True)
        return hashlib.sha256(body.encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """One completion: text, thoughts that came apart from it, the model, and what it took (tokens, cost, ...)."""

    text: str
    reasoning: str = ""
    model: str = ""
    usage: Mapping[str, JsonValue] = field(default_factory=dict)


class Teacher(Protocol):
    """Answers questions, from several threads at once."""

    def ask(self, question: Question) -> Reply | None:
        """A reply, None when there is none for this question. Raises UsageError, InfraError."""

    def abandon(self) -> None:
        """Nobody waits for answers any more: ask no further question."""


class Replay:
    """Answers from a file of rows with `task`, `completion`, and perhaps `backend`, `reasoning`, `model`, `purpose`,
    and what they took: `prompt_tokens`, `completion_tokens`, `cost`, `finish_reason`.

    The n-th question of a task and backend gets the n-th row of them; a row without a backend serves any.
    Raises UsageError naming file, row and field.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[tuple[str, str, str], list[int]] = {}
        self._texts: dict[int, tuple[str, str, str]] = {}
        self._took: dict[int, dict[str, JsonValue]] = {}
        for number, row in table.read(path):
            if isinstance(row, str):
                raise UsageError(f"{path}:{number}: {row}")
            for key in ("task", "completion"):
                if not isinstance(row.get(key), str):
                    found = "is missing" if key not in row else f"want text, got {type(row[key]).__name__}"
                    raise UsageError(f"{path}:{number}: field {key!r} {found}")
            purpose = str(row.get("purpose") or "kernel")
            self._rows.setdefault((purpose, row["task"], str(row.get("backend") or "")), []).append(number)
            self._texts[number] = (row["completion"], str(row.get("reasoning") or ""), str(row.get("model") or ""))
            took = {key: row[key] for key in _TOOK if isinstance(row.get(key), (int, float, str))}
            if took:
                self._took[number] = took

    def ask(self, question: Question) -> Reply | None:
        """The row of this question."""
        for backend in (question.backend, ""):
            numbers = self._rows.get((question.purpose, question.task, backend), [])
            if question.number < len(numbers):
                number = numbers[question.number]
                return Reply(*self._texts[number], {"row": number, **self._took.get(number, {})})
        return None

    def abandon(self) -> None:
        """There is nothing to end."""


_TOOK = ("prompt_tokens", "completion_tokens", "cost", "finish_reason")


class Endpoint:
    """An endpoint of OpenAI's protocol, asked by the `openai` client; what it cannot do is said with what to change.

    Rate limits and outages are waited for, longer each time, and `retries` times; then InfraError is raised, and the
    answers so far are kept. A refusal (key, model, request) is a UsageError at once.
    """

    def __init__(
        self, url: str, model: str, *, key_env: str = "OPENAI_API_KEY", retries: int = 6, timeout_s: float = 600.0,
        options: Mapping[str, Any] | None = None, pause: float = 1.0,
    ) -> None:  # fmt: skip
        try:
            import openai
        except ImportError:
            raise UsageError(
                "asking an endpoint needs the openai client, which is not installed: "
                "pip install 'kernel-engine[sampling]'; or replay completions from a file"
            ) from None
        self._openai = openai
        self.model = model
        self._retries = retries
        self._pause = pause
        self._options = dict(options or {})
        self._client = openai.OpenAI(
            base_url=url or None, api_key=os.environ.get(key_env) or "none", max_retries=0, timeout=timeout_s
        )
        self._where = url or "the endpoint"
        self._why = ""
        self.stop = threading.Event()

    def ask(self, question: Question) -> Reply | None:
        """Ask, and ask again where that may help."""
        failure: Exception | None = None
        for attempt in range(self._retries + 1):
            if self.stop.is_set():
                raise InfraError(f"{self._where}: {self._why}")
            try:
                return self._read(self._send(question.messages))
            except (self._openai.RateLimitError, self._openai.APIConnectionError, self._openai.InternalServerError,
                    self._openai.APITimeoutError) as error:  # fmt: skip
                failure = error
                if attempt < self._retries:
                    self.stop.wait(self._delay(error, attempt))
            except self._openai.APIStatusError as error:
                why = f"refuses the request ({error.status_code}): {error.message}; check url, model and key"
                self._give_up(why)
                raise UsageError(f"{self._where} {why}") from error
        why = (
            f"no answer in {self._retries + 1} attempts: {failure}; what was answered is kept, "
            "run the same command again to go on"
        )
        self._give_up(why)
        raise InfraError(f"{self._where}: {why}") from failure

    def abandon(self) -> None:
        """End the waiting between attempts, and ask nothing more."""
        self._why = self._why or "the run was interrupted"
        self.stop.set()

    def _give_up(self, why: str) -> None:
        self._why = self._why or f"given up after another request failed: {why}"
        self.stop.set()

    def _send(self, messages: Sequence[Message]) -> Any:
        return self._client.chat.completions.create(model=self.model, messages=list(messages), **self._options)

    def _delay(self, error: Exception, attempt: int) -> float:
        response = getattr(error, "response", None)
        asked = response.headers.get("retry-after") if response is not None else None
        try:
            return min(float(asked), 120.0) if asked else 0.0 or self._backoff(attempt)
        except ValueError:
            return self._backoff(attempt)

    def _backoff(self, attempt: int) -> float:
        return float(min(60.0, self._pause * 2**attempt) * (0.5 + random.random() / 2))

    def _read(self, answer: Any) -> Reply:
        if not answer.choices:
            raise InfraError(f"{self._where}: an answer without choices")
        choice = answer.choices[0]
        message = choice.message
        usage: dict[str, JsonValue] = {"finish_reason": str(choice.finish_reason or "")}
        if answer.usage is not None:
            usage |= {
                "prompt_tokens": answer.usage.prompt_tokens or 0,
                "completion_tokens": answer.usage.completion_tokens or 0,
            }
        reasoning = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""
        return Reply(message.content or "", str(reasoning), str(answer.model or self.model), usage)


class Kept:
    """Keeps every answer in a file the moment it arrives, so that none is asked, or paid, for twice.

    of: the model, and what else decides about its answers: those of another model answer no question of this one.
    """

    def __init__(self, teacher: Teacher, path: Path, of: Mapping[str, Any] | None = None) -> None:
        self._teacher = teacher
        self._of = dict(of or {})
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        self._load()

    def ask(self, question: Question) -> Reply | None:
        """The answer that is kept, else the teacher's."""
        key = self._key(question)
        with self._lock:
            place = self._places.get(key)
            if place is not None:
                self._file.seek(place)
                row = json.loads(self._file.readline())
                return Reply(row["text"], row["reasoning"], row["model"], row["usage"])
        reply = self._teacher.ask(question)
        if reply is not None:
            self._keep(key, reply)
        return reply

    def abandon(self) -> None:
        """No question goes on to the teacher."""
        self._teacher.abandon()

    def close(self) -> None:
        """Close the file; an answer that arrives later is kept by nobody."""
        with self._lock:
            self._file.close()

    def _key(self, question: Question) -> str:
        import hashlib

        return hashlib.sha256(json.dumps([question.key, self._of], sort_keys=True).encode()).hexdigest()

    def _keep(self, key: str, reply: Reply) -> None:
        body = {"key": key, "time": int(time.time()), **{k: v for k, v in vars(reply).items() if k != "usage"}}
        line = json.dumps({**body, "usage": dict(reply.usage)}).encode() + b"\n"
        with self._lock:
            try:
                place = self._file.seek(0, os.SEEK_END)
                self._file.write(line)
                self._file.flush()
            except OSError as error:
                raise InfraError(f"{self._file.name}: an answer cannot be kept: {error}") from error
            self._places[key] = place

    def _load(self) -> None:
        """Find what is there; a last line that was cut by a kill or a full disk is removed."""
        self._file.seek(0)
        place = 0
        for line in iter(self._file.readline, b""):
            try:
                self._places[json.loads(line)["key"]] = place
            except (ValueError, KeyError, TypeError):
                break
            if not line.endswith(b"\n"):
                break
            place += len(line)
        self._file.truncate(place)
