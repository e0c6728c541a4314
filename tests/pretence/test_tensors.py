"""Tensors that say that they are on a device: what becomes of them on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from kengine import pretence  # noqa: E402
from kengine.pretence import Figures  # noqa: E402
from kengine.runner.tensors import Seen, see  # noqa: E402

FIGURES = Figures("sm_90", "a chip", False, (9, 0), 32, 132, 2048, 49152, 233472, 1 << 30)
VALUES = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.fixture(params=[False, True], ids=["function", "module"])
def x(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An argument as a wrapper gets it."""
    made = torch.tensor(VALUES)
    with pretence.pretend(FIGURES, poison=True, lenient=request.param):
        pretence.give(made)
        yield made


REFUSED: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda x: x.numpy(),
    "detached": lambda x: x.detach().numpy(),
    "asarray": lambda x: np.asarray(x),
    "array": lambda x: np.array(x),
    "a function of numpy": lambda x: np.exp(x),
    "Python code of numpy": lambda x: np.median(x),
    "index": lambda x: np.ones(9)[x.long()],
    "computed": lambda x: (2 * x).numpy(),
    "one of several results": lambda x: x.topk(1)[0].numpy(),
    "moved there and back": lambda x: x.cpu().cuda().numpy(),
    "made there": lambda x: torch.ones(3, device=x.device).numpy(),
    "beside one of the host": lambda x: (x + torch.ones(3)).numpy(),
}
ALLOWED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "copied first": (lambda x: x.cpu().numpy(), VALUES),
    "moved first": (lambda x: x.to("cpu").numpy(), VALUES),
    "cast on the host": (lambda x: x.cpu().to(torch.float64).numpy(), VALUES),
    "computed on the host": (lambda x: x.cpu().topk(1)[0].numpy(), [[2.0], [5.0]]),
    "by force": (lambda x: x.numpy(force=True), VALUES),
    "as a list": (lambda x: x.tolist(), VALUES),
    "made on the host": (lambda x: torch.ones(2).numpy(), [1.0, 1.0]),
    "made of an array": (lambda x: torch.from_numpy(np.ones(2)).mul(2).numpy(), [2.0, 2.0]),
    "a generator's state": (lambda x: torch.get_rng_state().numpy()[:0], []),
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_tensor_on_the_device_is_no_array(x: Any, how: str) -> None:
    with pytest.raises(TypeError, match=r"^can't convert cuda:0 device type tensor to numpy\. Use Tensor\.cpu\(\)"):
        REFUSED[how](x)


@pytest.mark.parametrize("how", ALLOWED)
def test_a_tensor_of_the_host_is(x: Any, how: str) -> None:
    take, expected = ALLOWED[how]
    assert np.array_equal(np.array(take(x)), np.array(expected))


def test_a_module_may_look_at_what_it_made_before_it_was_moved() -> None:
    with pretence.pretend(FIGURES, poison=True, lenient=True):
        weight = torch.nn.Linear(2, 3).weight.detach()
        assert weight.is_cuda and weight.numpy().shape == (3, 2)


def test_results_of_the_host_stay_there(x: Any) -> None:
    host = x.cpu()
    assert not host.to(torch.float64).is_cuda and not host.topk(1)[0].is_cuda and x.topk(1)[0].is_cuda


ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "moved": lambda x: x.to("cuda:1"),
    "moved by number": lambda x: x.cuda(3),
    "moved by name": lambda x: x.cuda(device="cuda:2"),
    "made": lambda x: torch.empty(3, device="cuda:1"),
    "like it": lambda x: torch.empty_like(x, device=torch.device("cuda", 1)),
}


@pytest.mark.parametrize("how", ELSEWHERE)
def test_there_is_one_device(x: Any, how: str) -> None:
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        ELSEWHERE[how](x)


def test_the_device_by_any_of_its_names(x: Any) -> None:
    named = [x.to("cuda"), x.to("cuda:0"), x.to(0), x.cuda(), x.cuda(0), x.cpu().cuda(device=0)]
    assert all(each.is_cuda and each.tolist() == VALUES for each in named)


def test_a_tensor_without_memory_stays_without(x: Any) -> None:
    assert x.to("meta").is_meta and x.to(device="meta").device.type == "meta"


def test_the_runner_says_of_an_answer_where_it_would_be() -> None:
    x = torch.tensor(VALUES)
    with pretence.pretend(FIGURES, poison=True):
        pretence.give(x)
        answers = (x, x + 1, x.cpu().cuda(), x.cpu(), x.to("cpu") * 2)
    seen = [see(answer) for answer in answers]
    assert [isinstance(each, Seen) and each.device for each in seen] == ["cpu", "cpu", "cpu", "host", "host"]


def test_outside_nothing_is_said_of_an_argument() -> None:
    made = torch.ones(2)
    pretence.give(made)
    assert made.numpy().tolist() == [1.0, 1.0]
