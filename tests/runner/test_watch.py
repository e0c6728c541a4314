"""Following one call: whose operators and kernels worked on what descends from its inputs."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from kengine.provenance.operators import plain
from kengine.runner import watch

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True, scope="module")
def prepared():
    import _thread
    import threading

    starts = [(module, name, getattr(module, name)) for module in (_thread, threading)
              for name in ("start_new_thread", "_start_new_thread", "start_joinable_thread", "_start_joinable_thread")
              if hasattr(module, name)]  # fmt: skip
    impl = torch.library.Library.impl
    watch.prepare()
    yield
    torch.library.Library.impl = impl
    for module, name, start in starts:
        setattr(module, name, start)


def follow(function, *args, parameters=(), writes=()):
    """Facts of one call of a function, by the runner's own means. writes: numbers of the arguments that it writes."""
    regions = []
    for value, label in [(a, f"arg {n}") for n, a in enumerate(args)] + [(p, "parameter w") for p in parameters]:
        if isinstance(value, np.ndarray):
            start, size = value.ctypes.data, value.nbytes
        else:
            start, size = value.untyped_storage().data_ptr(), value.untyped_storage().nbytes()
        regions.append(SimpleNamespace(start=start, end=start + size, label=label))
    bundle = SimpleNamespace(regions=regions, inputs=SimpleNamespace(destination=()), arena=SimpleNamespace(nbytes=1))
    with watch.watching(bundle, False) as facts:
        with watch.entered():
            value = function(*[watch.argument(a) for a in args])
        return facts(value, [args[n] for n in writes])


def used(facts):
    return {plain(use.name): use.kind for use in facts.operators}


X, W = torch.randn(64, 64), torch.randn(64, 64)


def launch(source, result, body):
    with watch.kernel("k", [source, result]):
        body()


def test_a_kernel_around_an_operator_does_not_hide_it():
    def run(x, w):
        y = x @ w
        out = torch.empty_like(y)
        launch(y, out, lambda: out.copy_(y))
        return out

    facts = follow(run, X, W)
    assert used(facts) == {"mm": "contraction"}
    assert [(o.inputs, o.kernels, o.writer) for o in facts.outputs] == [(True, True, "k")]
    assert facts.kernels[0].nbytes == 2 * 64 * 64 * 4


def test_what_the_kernel_itself_calls_is_the_emulators():
    def run(x):
        out = torch.empty_like(x)
        launch(x, out, lambda: out.copy_(torch.softmax(x, -1)))
        return out

    assert used(follow(run, X)) == {}


def test_a_kernel_whose_result_is_dropped_wrote_nothing_that_is_returned():
    def run(x):
        scratch = torch.empty_like(x)
        launch(x, scratch, lambda: scratch.copy_(x))
        return torch.relu(x)

    facts = follow(run, X)
    assert [(o.kernels, o.writer) for o in facts.outputs] == [(False, "aten::relu")]


def test_a_view_of_what_a_kernel_wrote_is_the_kernels():
    def run(x):
        out = torch.empty(x.numel())
        launch(x, out, lambda: out.copy_(x.reshape(-1)))
        return out.view(64, 64).t()[:10]

    facts = follow(run, X)
    assert facts.outputs[0].kernels and used(facts) == {}


def test_preparing_is_no_work():
    def run(x):
        y = torch.nn.functional.pad(x.half().float().t().contiguous(), (0, 3))
        out = torch.zeros_like(y)
        launch(y, out, lambda: out.copy_(y))
        return torch.cat([out, out])[:, :64]

    assert used(follow(run, X)) == {}


def test_operators_on_parameters_alone_do_not_count():
    def run(x):
        folded = W @ W + 1
        out = torch.empty_like(x)
        launch(folded, out, lambda: out.copy_(folded))
        return out

    assert used(follow(run, X, parameters=(W,))) == {}


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("mm", lambda x, w: x.matmul(w)),
        ("bmm", lambda x, w: torch.einsum("ij,jk->ik", x, w)),
        ("mm", lambda x, w: torch.mm(x, w, out=torch.empty(64, 64))),
        ("addmm", lambda x, w: torch.nn.functional.linear(x, w, torch.ones(64))),
        ("mm", lambda x, w: getattr(torch.ops.aten, "m" + "m")(x, w)),
        ("mm", lambda x, w: torch.jit.trace(lambda a, b: a @ b, (x, w), check_trace=False)(x, w)),
        ("softmax", lambda x, w: x.softmax(-1)),
        ("relu", lambda x, w: x.clone().relu_()),
        ("matmul", lambda x, w: torch.from_numpy(np.asarray(x.numpy() @ w.numpy()))),
        ("dot", lambda x, w: torch.from_numpy(np.asarray(x.numpy().dot(w.numpy())))),
    ],
)
def test_however_an_operator_is_spelled(name, function):
    assert name in used(follow(function, X, W))


def test_inside_a_custom_operator():
    @torch.library.custom_op("kengine_tests::hidden", mutates_args=())
    def hidden(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, w)

    facts = follow(lambda x, w: hidden(x, w), X, W)
    assert used(facts) == {"mm": "contraction"} and facts.opaque == ()


def test_in_a_thread():
    def run(x, w):
        import threading

        results = []
        thread = threading.Thread(target=lambda: results.append(x @ w))
        thread.start()
        thread.join()
        return results[0]

    facts = follow(run, X, W)
    assert used(facts) == {"mm": "contraction"} and facts.threads == 1


def test_data_that_leaves_and_comes_back_is_noted():
    facts = follow(lambda x: torch.tensor(x.tolist()), X)
    assert facts.exported_bytes == X.numel() * 4 and facts.foreign_bytes == X.numel() * 4
    assert facts.outputs[0].foreign


@pytest.mark.parametrize("take", [lambda x: x.data_ptr(), lambda x: x.__dlpack__(), lambda x: x[3:5].data_ptr()])
def test_an_address_that_is_taken_is_noted(take):
    def run(x):
        take(x)
        return torch.relu(x)

    facts = follow(run, X)
    assert 0 < facts.addressed_bytes <= X.numel() * 4 and facts.exported_bytes == 0
    assert follow(torch.relu, X).addressed_bytes == 0


def test_code_that_was_generated_is_its_callers():
    def by_generated_code(name):
        space = {"x": X} if name is None else {"x": X, "__name__": name}
        exec("def ask():\n    return x.data_ptr()", space)
        return space["ask"]

    def asked(function):
        def run(x):
            function()
            return torch.relu(x)

        return follow(run, X).addressed_bytes > 0

    assert asked(by_generated_code(None))
    # A name is no proof.
    assert asked(by_generated_code("torch")) and asked(by_generated_code("torch.nn.functional"))
    library = type(torch)("torch._generated_here")
    exec("def call(function):\n    return function()", vars(library))
    sys.modules[library.__name__] = library
    try:
        assert not asked(lambda: library.call(by_generated_code(None)))
    finally:
        del sys.modules[library.__name__]


def test_an_array_made_of_a_tensor_is_still_followed():
    facts = follow(lambda x: torch.from_numpy(np.asarray(x) * 2), X)
    assert used(facts) == {"multiply": "elementwise"} and facts.foreign_bytes == 0


def test_an_operator_that_writes_over_what_a_kernel_wrote_is_the_writer():
    def run(x, w):
        out = torch.empty_like(x)
        launch(x, out, lambda: out.copy_(x))
        return torch.mm(x, w, out=out)

    assert [(o.kernels, o.writer) for o in follow(run, X, W).outputs] == [(False, "aten::mm")]


def test_an_operator_on_a_part_leaves_the_rest_to_the_kernel():
    def run(x):
        out = torch.empty_like(x)
        launch(x, out, lambda: out.copy_(x))
        out[:3].mul_(2)
        return out

    assert [o.kernels for o in follow(run, X).outputs] == [True]


def test_a_kernel_that_writes_what_was_there_has_written_it():
    out = torch.zeros(64)
    facts = follow(lambda x: launch(x, out, lambda: out.zero_()) or out, X)
    assert [o.kernels for o in facts.outputs] == [True]


def test_numpy_arrays_tell_what_is_done_with_them():
    x, w = np.ones((64, 64), np.float32), np.ones((64, 64), np.float32)

    def run(x, w):
        y = np.zeros((64, 64), np.float32)
        np.dot(x, w, out=y)
        y += x.sum(axis=0)
        np.maximum(y, 0, out=y)
        return np.sort(y, axis=0)

    assert used(follow(run, x, w)) == {
        "dot": "contraction", "add.reduce": "reduction", "add": "elementwise", "maximum": "elementwise", "sort": "sort",
    }  # fmt: skip


def test_numpy_results_are_what_they_are_without_watching():
    x = np.arange(12.0).reshape(3, 4)

    def run(x):
        y = x[1:, ::2].copy()
        y[0] += 1
        return [y.sum(), y.mean(axis=0), np.concatenate([x, x])[::2], x.T @ x, x.argmax(), np.where(x > 3, x, 0)]

    plain_values = run(x)
    seen = []
    follow(lambda x: seen.extend(run(x)) or x, x)
    for a, b in zip(plain_values, watch.bare(seen)):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)


def test_nothing_is_followed_outside():
    assert not watch.active()
    with watch.kernel("k", [X]), watch.pause(), watch.entered():
        watch.operation("cupy::dot", [X], [X])
    assert watch.argument(3) == 3 and type(watch.argument(np.ones(3))) is np.ndarray


def test_the_classes_are_as_before():
    before = {name: getattr(torch.Tensor, name) for name in ("numpy", "tolist", "__array__")}
    follow(lambda x: x.numpy(), X)
    assert {name: getattr(torch.Tensor, name) for name in before} == before


def test_what_is_assigned_into_an_array_is_what_it_holds():
    def run(x):
        padded = np.zeros((80, 80), np.float32)
        padded[:64, :64] = x
        out = np.empty_like(padded)
        with watch.kernel("k", [padded, out]):
            out[:] = padded
        return out[:64, :64]

    facts = follow(run, np.ones((64, 64), np.float32))
    assert [(o.inputs, o.kernels) for o in facts.outputs] == [(True, True)] and facts.operators == ()


def test_memory_in_the_form_of_an_input_holds_nothing_of_it():
    def run(x):
        out = torch.empty_like(x)
        out.fill_(1.0)
        launch(W, out, lambda: out.fill_(1.0))  # writes what is there already
        return out

    facts = follow(run, X)
    assert [(o.inputs, o.kernels) for o in facts.outputs] == [(False, True)]


def test_an_array_that_a_kernel_returns_is_new_and_a_buffer_from_before_is_not():
    kept = torch.empty(64, 64)

    def returns(x):
        made: list[object] = []
        with watch.kernel("k", [x], made):
            made.append(x * 2)
        return made[0]

    def keeps(x):
        launch(x, kept, lambda: kept.copy_(x))
        return kept

    assert [o.older for o in follow(returns, X).outputs] == [False]
    assert [o.older for o in follow(keeps, X).outputs] == [True]


def test_operators_of_pytorch_beside_aten_are_work():
    def run(x, w):
        return torch.ops.mkldnn._linear_pointwise(x, w, None, "none", [], "")

    if not torch.backends.mkldnn.is_available():
        pytest.skip("PyTorch without oneDNN")
    facts = follow(run, X, W)
    assert used(facts) == {"linear_pointwise": "contraction"}
    assert not facts.opaque


def test_an_array_over_foreign_bytes_is_no_endless_chain():
    def run(x):
        return np.frombuffer(bytes(4 * x.size), np.float32)[1:] + x[1:]

    assert used(follow(run, np.ones(8, np.float32)))["add"] == "elementwise"


def test_the_classes_have_no_methods_of_their_own_that_they_had_not_before():
    own = {name: vars(torch.Tensor).get(name) for name in watch._WAYS_OUT}
    assert None in own.values(), "some are inherited"
    follow(lambda x: x.tolist(), X)
    assert {name: vars(torch.Tensor).get(name) for name in watch._WAYS_OUT} == own


def test_libraries_that_a_call_loads_are_noted_and_those_from_before_are_not(monkeypatch):
    found = [{"libmkl.so"}, {"libmkl.so", "libcublas.so.12"}]
    monkeypatch.setattr(watch.mappings, "vendors", lambda: found.pop(0) if len(found) > 1 else found[0])
    assert follow(torch.relu, X).libraries == ("libcublas.so.12",)


def test_an_address_that_a_library_asks_for_is_not_the_candidates_doing():
    library = type(torch)("torch._asks_here")
    exec("def ask(x):\n    return x.data_ptr()", vars(library))

    def run(x):
        library.ask(x)
        return torch.relu(x)

    assert follow(run, X).addressed_bytes > 0, "a name alone is no proof"
    sys.modules[library.__name__] = library
    try:
        assert follow(run, X).addressed_bytes == 0
    finally:
        del sys.modules[library.__name__]


def test_memory_that_is_given_out_again_holds_nothing_of_a_call_before():
    """What the allocator gives out may be where the same answer lay: a kernel that writes it again does change it."""
    given = []

    def run(x):
        out = torch.empty_like(x)
        given.append(out.clone())
        launch(x, out, lambda: out.copy_(x))
        return out

    for _ in range(3):
        facts = follow(run, X)
        assert facts.unwritten_bytes == 0 and facts.outputs[0].kernels
    patterns = {tuple(each.view(torch.uint8).unique().tolist()) for each in given}
    assert all(len(pattern) == 1 and pattern[0] not in (0, 255) for pattern in patterns) and len(patterns) > 1


@pytest.mark.parametrize("make", ["empty", "new_empty", "empty_strided"])
def test_only_memory_that_holds_nothing_is_overwritten(make):
    def run(x):
        made = {
            "empty": lambda: torch.empty(64, 64), "new_empty": lambda: x.new_empty(64, 64),
            "empty_strided": lambda: torch.empty_strided((64, 64), (1, 64)),
        }[make]()  # fmt: skip
        assert made.untyped_storage().nbytes() == 4 * 64 * 64
        zeros = torch.zeros(64)
        assert not zeros.any() and torch.equal(x, X)
        launch(x, made, lambda: made.copy_(x))
        return made

    assert follow(run, X).outputs[0].kernels


def moved(facts):
    return {plain(use.name) for use in facts.moved}


def test_an_argument_that_is_laid_out_anew_is_no_part_of_the_work():
    strided = torch.randn(64, 128)[:, ::2]
    assert moved(follow(lambda x: x.contiguous(), strided)) == set()
    assert moved(follow(lambda x: x.t().contiguous(), strided)) == {"clone"}, "another form of it is"
    assert moved(follow(lambda x: x[:32].clone(), strided)) == {"clone"}, "and so is a part"


def test_a_cast_that_drops_fractions_is_arithmetic():
    assert used(follow(lambda x: x[:32].to(torch.int64).to(x.dtype), X)) == {"to_copy(whole)": "elementwise"}
    assert used(follow(lambda x: x[:32].half().float(), X)) == {}


def test_a_lookup_at_computed_places_is_a_function_of_them():
    table, places = torch.arange(64.0), torch.arange(64)
    assert used(follow(lambda i: table.gather(0, i), places)) == {}, "places that were given choose"
    assert "gather(computed)" in used(follow(lambda i: table.gather(0, i ^ 1), places))
    assert used(follow(lambda x: x.gather(1, torch.zeros(64, 64, dtype=torch.int64)), X)) == {}, (
        "constant places choose"
    )


SPELLED = {
    "complex products": (lambda x: torch.view_as_real(torch.view_as_complex(x) * 1j), "mul(complex)", "elementwise"),
    "added where they are put": (
        lambda x: torch.zeros(4, 2).index_put_((torch.tensor([0, 0]),), x[:2], accumulate=True),
        "index_put_(accumulate)", "indexed"),
    "put": (lambda x: torch.zeros(4, 2).index_put_((torch.tensor([0, 1]),), x[:2]), "index_put", "indexed"),
    "a sparse array made dense": (
        lambda x: torch.sparse_coo_tensor(torch.tensor([[0, 0, 1, 1]]), x, (3, 2)).to_dense(),
        "to_dense(sparse)", "indexed"),
    "a compressed one": (lambda x: x.to_sparse_csr().to_dense(), "to_dense(sparse)", "indexed"),
    "floating-point numbers sorted": (lambda x: x.sort().values, "sort", "sort"),
    "places sorted": (lambda x: x.long().sort().values, "sort", "sort"),
    "places added up": (lambda x: x.bool().cumsum(0), "cumsum", "scan"),
}  # fmt: skip


@pytest.mark.parametrize("how", SPELLED)
def test_what_an_operator_does_in_this_call(how):
    run, name, kind = SPELLED[how]
    found = follow(run, torch.rand(4, 2) + 1)
    named = {plain(use.name): use for use in found.operators}
    assert named[name].kind == kind
    assert named[name].name.endswith("(index)") == how.startswith("places")
    assert found.outputs[0].inputs, "it descends from the input"


def test_written_inputs_tell_who_wrote_to_them():
    def run(x, y, z):
        x += 1
        launch(x, y, lambda: y.fill_(3.0))
        out = torch.empty(8)
        launch(x, out, lambda: out.fill_(2.0))
        return out

    found = follow(run, torch.rand(8), torch.rand(8), torch.rand(8), writes=(0, 1, 2))
    assert [(o.kernels, o.writer) for o in found.outputs] == [(True, "k"), (False, "aten::add_"), (True, "k")]


def test_memory_from_before_the_call_is_known_whoever_writes_into_it():
    kept, array = torch.empty(8), np.empty(8)

    def copy(x):
        return kept.copy_(x + 1)

    def out(x):
        return torch.add(x, 1, out=kept)

    def fresh(x):
        return torch.empty(8).copy_(x)

    def of_numpy(x):
        np.copyto(array, x)
        return array

    older = [follow(run, torch.rand(8)).outputs[0].older for run in (copy, out, fresh)]
    assert older == [True, True, False]
    assert follow(of_numpy, np.random.rand(8)).outputs[0].older
