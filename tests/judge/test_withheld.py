"""Parts of an answer that are right although no kernel ran: told where something computes them, and not else."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.judge import withheld

torch = pytest.importorskip("torch")

NAN = float("nan")


def source(body, inputs="torch.randn(37, 70, generator=g)", names="x"):
    return (
        "import torch\ndef make_inputs(seed, device):\n    g = torch.Generator().manual_seed(seed)\n"
        f"    return ({inputs},)\ndef reference({names}):\n    return {body}\n"
    )


@pytest.fixture(params=["host", "device"])
def either(request, bench):
    return bench if request.param == "host" else request.getfixturevalue("device_bench")


def ask(bench, candidate, before="check", phase="without"):
    """What is said of what a candidate makes of its inputs with launches withheld, after the case was checked."""
    assert bench.opened["ok"], bench.opened
    bench.lend(0)
    (lent,) = bench.lend(0, phase=phase)
    call = (lent.init_args, lent.state, *lent.args) if bench.task.form == "module" else lent.args
    result = candidate(*call)
    written = [lent.args[i] for i in bench.opened["views"][0]["writes"]]
    body = {"task_id": bench.opened["task_id"], "case": 0, "phase": phase, "holder": "r1", "brief": True}
    answer, _ = bench.ask("compare", **body, outputs=lent.describe([result, *written]), before=before)
    assert answer["ok"], answer
    assert not answer["comparison"]["ok"], "this is about answers that are wrong as a whole"
    return answer["parts"]


def filled(value, like):
    return torch.full_like(like, value)


def put(index, fill=NAN):
    """A candidate whose kernel leaves `fill`, and torch computes the answer at an index."""

    def candidate(x):
        right = right_answer(x)
        y = filled(fill, right)
        y[index] = right[index]
        return y

    return candidate


def right_answer(x):
    return torch.tanh(x) * x


ROWS = {
    "last row": (put(np.s_[-1:]), "70 of 2590 elements (whole rows: row 36; first such row 36)"),
    "a third": (put(np.s_[25:]), "840 of 2590 elements (whole rows: the tail, rows from 25 on (12 of 37); first such"),
    "last column": (put(np.s_[:, -1:]), "37 of 2590 elements (in every row: column 69)"),
    "columns": (put(np.s_[:, 40:60]), "740 of 2590 elements (in every row: columns 40 to 59)"),
    "a corner": (put(np.s_[30:, 50:]), "140 of 2590 elements (one tile: rows 30 to 36, columns 50 to 69 (7 x 20)"),
    "all but a row": (put(np.s_[:-1]), "2520 of 2590 elements (whole rows: rows 0 to 35; first such row 0)"),
    "zeros elsewhere": (put(np.s_[3:4], 0.0), "70 of 2590 elements (whole rows: row 3; first such row 3)"),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows_and_columns_that_something_else_computes(either, make_task, name):
    candidate, words = ROWS[name]
    either.open(make_task(source("torch.tanh(x) * x")), cases=1)
    assert ask(either, candidate).startswith(words)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_in_every_dtype(either, make_task, dtype):
    inputs = f"torch.randn(37, 70, generator=g, dtype=torch.{'float32' if '16' in dtype else dtype})"
    inputs += f".to(torch.{dtype})"
    either.open(make_task(source("torch.tanh(x) * x", inputs)), cases=1)
    assert ask(either, put(np.s_[-1:])).startswith("70 of 2590 elements (whole rows: row 36")
    assert ask(either, lambda x: filled(NAN, x)) == ""
    assert ask(either, lambda x: x.clone()) == ""


SHAPES = {
    "channel": ("torch.randn(2, 6, 5, 7, generator=g)", np.s_[:, -1], "70 of 420 elements"),
    "small channel": ("torch.randn(8, 6, 3, 1, generator=g)", np.s_[:, 4], "24 of 144 elements"),
    "rows of four": ("torch.randn(90, 4, generator=g)", np.s_[-5:], "20 of 360 elements"),
    "tail of one": ("torch.randn(1000, generator=g)", np.s_[-40:], "40 of 1000 elements (the tail"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_in_every_shape(either, make_task, name):
    inputs, index, words = SHAPES[name]
    either.open(make_task(source("torch.tanh(x) * x", inputs)), cases=1)
    assert ask(either, put(index)).startswith(words)


def test_zeros_of_a_relu_do_not_break_a_run(either, make_task):
    either.open(make_task(source("torch.relu(x * torch.tanh(x + 0.5))")), cases=1)

    def candidate(x):
        y = filled(NAN, x)
        y[20] = torch.relu(x[20] * torch.tanh(x[20] + 0.5))
        return y

    assert ask(either, candidate).startswith("70 of 2590 elements (whole rows: row 20")
    assert ask(either, lambda x: filled(0.0, x)) == "", "half of the answer"


@pytest.mark.parametrize("index", [np.s_[3, 7], np.s_[3, :15], np.s_[::3, ::3], np.s_[:3, 5]])
def test_few_or_scattered_elements_say_nothing(either, make_task, index):
    either.open(make_task(source("torch.tanh(x) * x")), cases=1)
    assert ask(either, put(index)) == ""


def test_one_number_is_not_many_however_often_it_is_there(either, make_task):
    either.open(make_task(source("x.exp().mean(1, keepdim=True).expand(-1, 70).contiguous()")), cases=1)

    def candidate(x, rows):
        y = filled(NAN, x)
        y[rows] = x[rows].exp().mean(1, keepdim=True)
        return y

    assert ask(either, lambda x: candidate(x, np.s_[5:6])) == ""
    assert ask(either, lambda x: candidate(x, np.s_[5:25])).startswith(
        "1400 of 2590 elements (whole rows: rows 5 to 24"
    )


def test_one_of_several_outputs(either, make_task):
    either.open(make_task(source("(x.sum(), x > 0, torch.tanh(x) * x, torch.exp(x))")), cases=1)
    right = (lambda x: x.sum(), lambda x: x > 0, right_answer, torch.exp)

    def candidate(x, *which):
        parts = [f(x) for f in right]
        return tuple(p if n in which else torch.zeros_like(p) for n, p in enumerate(parts))

    assert ask(either, lambda x: candidate(x, 0)) == "", "a scalar"
    assert ask(either, lambda x: candidate(x, 0, 1, 2)) == "", "whole outputs are another rule's affair"
    found = ask(either, lambda x: (x.sum(), x > 0, filled(NAN, x), put(np.s_[5:6])(x) * 0 + torch.exp(x)))
    assert found.startswith("70 of 2590 elements of output 3 (whole rows: row 5")


HONEST = {
    "a copy that a kernel updates in places": (
        source("x.index_add(0, i, x[:5].tanh())", "torch.randn(37, 70, generator=g), "
               "torch.arange(5) * 7", "x, i"),
        lambda x, i: x.clone(),
    ),
    "joined with an input": (
        source("torch.cat([torch.tanh(x), x], 1)"), lambda x: torch.cat([filled(NAN, x), x], 1)
    ),
    "halves turned": (
        source("torch.cat([-x[:, 35:], x[:, :35].exp()], 1)"),
        lambda x: torch.cat([-x[:, 35:], filled(NAN, x[:, :35])], 1),
    ),
    "rows by index": (
        source("torch.cat([x[i], x[i].exp()])", "torch.randn(37, 70, generator=g), "
               "torch.randint(0, 37, (90,), generator=g)", "x, i"),
        lambda x, i: torch.cat([x[i], filled(NAN, x[i])]),
    ),
    "cast to half, and padded": (
        source("torch.nn.functional.pad(x.half(), (3, 3)) * (torch.arange(76, device=x.device) < 70)"),
        lambda x: torch.nn.functional.pad(x.half()[:, :69], (3, 4)),
    ),
    "every second element": (
        source("torch.stack([x.sin(), x], -1).flatten(1).bfloat16()"),
        lambda x: torch.stack([filled(NAN, x), x], -1).flatten(1).bfloat16(),
    ),
    "turned": (source("torch.cat([x.t(), x.t().exp()])"), lambda x: torch.cat([x.t(), filled(NAN, x.t())])),
    "pairs as complex numbers": (
        source("torch.cat([torch.complex(x, y), torch.complex(x, y) * torch.complex(y, x)])",
               "torch.randn(9, 70, generator=g), torch.randn(9, 70, generator=g)", "x, y"),
        lambda x, y: torch.cat([torch.complex(x, y), torch.zeros_like(torch.complex(x, y))]),
    ),
    "prefilled with a bias": (
        source("torch.relu(x) * (x[:, :1] > 0) + b", "torch.randn(37, 70, generator=g), "
               "torch.randn(70, generator=g)", "x, b"),
        lambda x, b: b.expand(37, 70).contiguous(),
    ),
    "an epilogue on sums that are empty": (
        source("torch.nn.functional.gelu(x * (x[:, :1] > 0) + b)", "torch.randn(37, 70, generator=g), "
               "torch.randn(70, generator=g)", "x, b"),
        lambda x, b: torch.nn.functional.gelu(b.expand(37, 70).contiguous()),
    ),
    "one number": (
        source("torch.where(x[:, :1] > 0, torch.tanh(x), torch.ones_like(x))"), lambda x: filled(1.0, x)
    ),
    "nearly constant rows": (
        source("(0.5 + 1e-5 * x).bfloat16() * torch.sign(x[:, :1])"), lambda x: filled(0.5, x).bfloat16()
    ),
    "nothing but NaN, in a task with NaN in it": (
        source("torch.where(x[:, :1] > 0, torch.tanh(x), torch.full_like(x, float('nan')))"), lambda x: filled(NAN, x)
    ),
    "infinities under a mask": (
        source("x.tanh().masked_fill(x[:, :1] > 0, float('-inf'))"), lambda x: filled(float("-inf"), x)
    ),
    "another form": (source("torch.tanh(x) * x"), lambda x: right_answer(x)[:5]),
    "another dtype": (source("torch.tanh(x) * x"), lambda x: right_answer(x).double()),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_what_honest_wrappers_leave_in_an_answer_is_no_part(either, make_task, name):
    text, candidate = HONEST[name]
    either.open(make_task(text), cases=1)
    assert ask(either, candidate) == ""


def test_an_answer_of_an_earlier_call_in_recycled_memory(either, make_task):
    # Rows of a table that does not change, each with work done to it: an earlier answer holds some of them.
    text = source(
        "torch.tanh(torch.linspace(-1, 1, 350, device=i.device).reshape(5, 70) ** 3 * 2)[i]",
        "torch.randint(0, 5, (64,), generator=g)", "i",
    )  # fmt: skip
    either.open(make_task(text), cases=1)
    table = torch.tanh(torch.linspace(-1, 1, 350).reshape(5, 70) ** 3 * 2)
    (lent,) = either.lend(0)
    earlier = table[lent.args[0]].clone()
    assert ask(either, lambda i: earlier) == ""


@pytest.mark.parametrize("known", [True, False])
def test_it_is_what_was_lent_to_this_holder_that_counts(bench, make_task, known):
    """An earlier answer in recycled memory, of which by chance a row is the answer to the new inputs as well."""
    bench.open(make_task(source("torch.tanh(x) * x")), cases=1)
    (lent,) = bench.lend(0, phase="fresh", holder="r1" if known else "r2")
    left = right_answer(lent.args[0])
    (session,) = bench.judge.sessions.values()
    fresh, new = (session.expected(session.cases[0], phase).outputs[0].exact for phase in ("fresh", "without"))
    new[3] = fresh[3]
    assert ask(bench, lambda x: left) == ("" if known else "70 of 2590 elements (whole rows: row 3; first such row 3)")


MODULE = """
import torch
class Model(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(37, n))
    def forward(self, x):
        return torch.cat([torch.tanh(x), torch.sin(3 * self.table)])
def get_inputs():
    return [torch.randn(37, 70)]
def get_init_inputs():
    return [70]
"""


def test_what_parameters_alone_decide_is_no_part(either, make_task):
    either.open(make_task(MODULE, form="module"), cases=1)

    def candidate(init, state, x, row=None):
        y = torch.cat([filled(NAN, x), torch.sin(3 * state["table"])])
        if row is not None:
            y[row] = torch.tanh(x[row])
        return y

    assert ask(either, candidate) == ""
    assert ask(either, lambda *a: candidate(*a, row=36)).startswith("70 of 5180 elements (whole rows: row 36")


def test_an_input_that_may_be_written_holds_what_it_held(either, make_task):
    text = source("x.mul_(torch.sigmoid(x))")
    either.open(make_task(text, writes=("x",)), cases=1)
    assert ask(either, lambda x: x) == ""


def test_numpy_tasks(bench, make_task):
    text = "import numpy as np\ndef forward(x):\n    return np.tanh(x) * x\n"
    text += "def get_inputs():\n    return [np.random.randn(37, 70).astype(np.float32)]\n"
    bench.open(make_task(text, form="numpy"), cases=1)

    def candidate(x):
        y = np.full_like(x, np.nan)
        y[30:] = np.tanh(x[30:]) * x[30:]
        return y

    assert ask(bench, candidate).startswith("490 of 2590 elements (whole rows: the tail, rows from 30 on (7 of 37)")
    assert ask(bench, lambda x: x.copy()) == ""


def test_many_rows_are_found_without_looking_at_each(bench, make_task, monkeypatch):
    monkeypatch.setattr(withheld, "ROWS", 8)
    bench.open(make_task(source("torch.tanh(x) * x")), cases=1)
    found = ask(bench, put(np.s_[5:]))
    assert found == "2240 of 2590 elements (whole rows: the tail, rows from 5 on (32 of 37); first such row 5)"


def test_who_asks_for_no_parts_is_told_of_none(bench, make_task):
    bench.open(make_task(source("torch.tanh(x) * x")), cases=1)
    assert ask(bench, put(np.s_[5:]), before="") == ""


def test_where_nothing_is_right_no_input_is_looked_at(bench, make_task, monkeypatch):
    bench.open(make_task(source("torch.tanh(x) * x")), cases=1)
    for name in ("_input_values", "_copied", "_describe"):
        monkeypatch.setattr(withheld, name, lambda *_: pytest.fail("looked at"))
    assert ask(bench, lambda x: filled(NAN, x)) == ""
