"""Judging small candidates on the interpreter and on chips that are not there, each in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "support"))

import triton_zygote  # noqa: E402
from triton_candidates import HEAD  # noqa: E402


@dataclass
class Answer:
    """What judging gave: outputs of the last run, launches of each run, artifact, or the fault."""

    reply: dict[str, Any]

    @property
    def fault(self) -> tuple[str, str, str, int]:
        assert "broken" not in self.reply, self.reply["broken"]
        assert "fault" in self.reply, f"no fault: {self.reply}"
        return self.reply["fault"]

    @property
    def status(self) -> str:
        return self.fault[0]

    @property
    def message(self) -> str:
        return self.fault[1]

    @property
    def line(self) -> int:
        return self.fault[3]

    @property
    def artifact(self) -> Any:
        self._check()
        return self.reply["artifact"]

    @property
    def value(self) -> Any:
        """The only output of the last run."""
        (value,) = self.values
        return value

    @property
    def values(self) -> tuple[Any, ...]:
        self._check()
        return self.reply["runs"][-1][0]

    @property
    def launches(self) -> Any:
        self._check()
        return self.reply["runs"][-1][1]

    @property
    def arguments(self) -> Any:
        """The arguments as they were after the last run."""
        self._check()
        return self.reply["runs"][-1][2]

    @property
    def facts(self) -> Any:
        """What was seen of the last run in mode `traced`."""
        self._check()
        return self.reply["facts"]

    def _check(self) -> None:
        assert "broken" not in self.reply, self.reply["broken"]
        assert "fault" not in self.reply, (*self.reply["fault"][:2], self.reply["fault"][2][-3000:])


class Judge:
    """Sends candidates to one zygote for each target; started when first needed."""

    def __init__(self) -> None:
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def __call__(
        self,
        target: str,
        source: str,
        *samples: list[Any],
        modes: tuple[str, ...] = (),
        entry: str = "candidate",
        form: str = "function",
        head: str = HEAD,
        destination: tuple[Any, ...] = (),
        init: tuple[Any, ...] = (),
        state: dict[str, Any] | None = None,
        path: str = "kernel.py",
    ) -> Answer:
        from kengine.model import Candidate, SourceFile, TaskView

        text = head + textwrap.dedent(source)
        request = {
            "target": target,
            "candidate": Candidate((SourceFile(path, text),), entry),
            "view": TaskView(form, entry),  # type: ignore[arg-type]
            "samples": samples,
            "destination": list(destination),
            "init": init,
            "state": state or {},
            "modes": modes,
        }
        child = self._child(target)
        triton_zygote.write(child.stdin, request)
        return Answer(triton_zygote.read(child.stdout))

    def interpret(self, source: str, *args: Any, **options: Any) -> Answer:
        """Run on the interpreter, once."""
        return self("triton:interpret", source, list(args), **{"modes": ("normal",), **options})

    def compile(self, arch: str, source: str, *args: Any, **options: Any) -> Answer:
        """Compile for a chip what the wrapper launches on these arguments."""
        return self(f"triton:{arch}", source, list(args), **options)

    def _child(self, target: str) -> subprocess.Popen[bytes]:
        kind = "interpret" if target == "triton:interpret" else "compile"
        if kind not in self._children:
            environ = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
            environ["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
            environ.pop("TRITON_INTERPRET", None)
            if kind == "interpret":
                environ["TRITON_INTERPRET"] = "1"
            self._children[kind] = subprocess.Popen(
                [sys.executable, triton_zygote.__file__, target if kind == "interpret" else "triton:sm_90"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ,
            )  # fmt: skip
        return self._children[kind]

    def close(self) -> None:
        for child in self._children.values():
            assert child.stdin is not None and child.stdout is not None
            child.stdin.close()
            child.wait(timeout=20)
            child.stdout.close()


@pytest.fixture(scope="session")
def judge() -> Any:
    judge = Judge()
    yield judge
    judge.close()
