"""The kengine block: found in comments only, and every error names file, line, key and what is allowed."""

from __future__ import annotations

import pytest
from kengine.errors import TaskError, UsageError
from kengine.model import Case, TaskSpec, Tolerance
from kengine.tasks.block import candidate_options, check_keys, find_block, parse_block, read_entry
from kengine.tasks.spec import read_name, read_spec


def block(toml: str):  # type: ignore[no-untyped-def]
    return parse_block(toml, "t.py", 1)


def test_found_in_python_comments() -> None:
    text = 'import x\n# /// kengine\n# entry = "f"\n#\n# [launch]\n# block = [256, 1]\n# ///\n'
    found = find_block(text, "k.py")
    assert found is not None
    assert (found.line, found.values) == (2, {"entry": "f", "launch": {"block": (256, 1)}})
    assert read_entry(found) == "f"
    assert found.where("launch.block") == "k.py:5: launch.block"


def test_found_in_native_comments() -> None:
    found = find_block('// /// kengine\n// entry = "k"\n// ///\n__global__ void k() {}\n', "k.cu", "cuda")
    assert found is not None and found.values == {"entry": "k"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('TEXT = """\n# /// kengine\n# entry = "f"\n# ///\n"""\n', "python"),
        ('/*\n// /// kengine\n// entry = "f"\n// ///\n*/\n', "cuda"),
        ('const char* s = R"(\n// /// kengine\n// ///\n)";\n', "hip"),
        ("# no block\n", "python"),
        ("  # /// kengine\n  # ///\n", "python"),
    ],
)
def test_strings_and_other_comments_are_no_block(text: str, language: str) -> None:
    assert find_block(text, "k", language) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# /// kengine\n# a = 1\nx = 1\n", r"k.py:3: .* of line 1 is not closed"),
        ("# /// kengine\n# a = 1", r"k.py:1: .* is not closed"),
        ("# /// kengine\n# ///\n# /// kengine\n# ///\n", r"k.py:3: a second"),
        ("\n# /// kengine\n# a = 1\n# b = = 2\n# ///\n", r"k.py:4: the kengine block is not TOML: [^:(]* in column 7$"),
        ("# /// kengine\n# a = [1,\n# ///\n", r"k.py:\d: the kengine block is not TOML: [^:(]*$"),
        ("# /// kengine\n# a = nan\n# ///\n", r"k.py:2: a: nan is not a finite number"),
        ("# /// kengine\n# a = 2020-01-01\n# ///\n", r"k.py:2: a: a date has no meaning"),
    ],
)
def test_malformed_blocks(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_block(text, "k.py")


def test_the_place_in_a_native_block_is_that_of_the_file() -> None:
    text = "// what it does\n// /// kengine\n// block = 256\n// grid = n / 256\n// ///\n"
    with pytest.raises(UsageError, match=r"k.cu:4: the kengine block is not TOML: \w[\w ]* in column 11$"):
        find_block(text, "k.cu", "cuda")


def test_unknown_keys_of_a_task() -> None:
    with pytest.raises(UsageError, match=r"t.py:2: tolerence: unknown key; did you mean 'tolerance'\?; allowed: .*"):
        check_keys(block("tolerence = 1e-3"), backend_keys=False)
    with pytest.raises(UsageError, match=r"t.py:2: grid: unknown key; allowed: "):
        check_keys(block("grid = [1]"), backend_keys=False)


def test_backend_keys_of_a_candidate() -> None:
    found = block('entry = "f"\ngrid = [1]\ncases = []')
    check_keys(found, backend_keys=True)
    assert candidate_options(found) == {"entry": "f", "grid": (1,)}
    with pytest.raises(UsageError, match=r"t.py:2: entri: unknown key; did you mean 'entry'"):
        check_keys(block('entri = "f"'), backend_keys=True)


def test_no_block_is_the_default_spec() -> None:
    assert read_spec(None) == TaskSpec()
    assert read_name(None, "file") == "file"
    assert read_spec(block('category = "norm"')) == TaskSpec(category="norm")


def test_cases_are_a_product_and_named() -> None:
    spec = read_spec(
        block(
            'dtypes = ["float32", "float16"]\nvalues = "large"\n'
            '[[cases]]\nM = 4\nN = 7\n[[cases]]\nname = "odd"\nM = 3\ndtype = "bfloat16"\nlayout = "strided"\n'
            'values = ["zeros"]\ndraws = 2\n'
        )
    )
    assert spec.cases == (
        Case("M=4,N=7 float32 large", {"M": 4, "N": 7}, "float32", "contiguous", "large", 0),
        Case("M=4,N=7 float16 large", {"M": 4, "N": 7}, "float16", "contiguous", "large", 0),
        Case("odd bfloat16 strided zeros", {"M": 3}, "bfloat16", "strided", "zeros", 0),
        Case("odd bfloat16 strided zeros #1", {"M": 3}, "bfloat16", "strided", "zeros", 1),
    )


def test_lists_without_cases_and_params_with_reserved_names() -> None:
    spec = read_spec(block("draws = 3\nextra_values = false"))
    assert [c.name for c in spec.cases] == ["default", "default #1", "default #2"]
    spec = read_spec(block("extra_values = false\n[[cases]]\nparams = {dtype = 3}\n"))
    assert spec.cases == (Case("dtype=3", {"dtype": 3}),)


def test_tolerance() -> None:
    assert read_spec(block("tolerance = 1e-3")).tolerance == Tolerance(rtol=1e-3)
    spec = read_spec(block('[tolerance]\nhonest_factor = 8\nprecision = "tf32"\nnan_equal = false'))
    assert spec.tolerance == Tolerance(None, 8.0, "tf32", False)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('dtypes = ["float31"]', r"t.py:2: dtypes: 'float31' is not known; did you mean 'float32'\?; allowed: "),
        ('layouts = ["strided", "weird"]', r"t.py:2: layouts: 'weird' is not known; allowed: contiguous, strided"),
        ("values = 3", r"t.py:2: values: 3 is not a list"),
        ("values = []", r"t.py:2: values: "),
        ("draws = 0", r"t.py:2: draws: 0 is not a whole number from 1 to 100"),
        ("draws = true", r"t.py:2: draws: True is not a whole number"),
        ("cases = 3", r"t.py:2: cases: expected \[\[cases\]\] tables"),
        ("[[cases]]\nM = 1\n[[cases]]\nM = 1", r"cases\[1\]: a second case is called 'M=1'"),
        ("[[cases]]\ndtype = 'int3'", r"t.py:\d: cases\[0\].dtype: 'int3' is not known; did you mean"),
        ("tolerance = 2", r"t.py:2: tolerance.rtol: 2 is not a number from 1e-16 to 0.5"),
        ("tolerance = {atol = 1}", r"t.py:2: tolerance.atol: unknown key; did you mean 'rtol'\?; allowed: rtol, "),
        ('device = "gpu"', r"t.py:2: device: 'gpu' is not known; .*allowed: cpu, cuda"),
        ("timeout_s = -1", r"t.py:2: timeout_s: -1 is not a number"),
        ('level = "hard"', r"t.py:2: level: 'hard' is not a whole number"),
        ("allow = [1]", r"t.py:2: allow: \(1,\) is not a list of texts"),
        ("license = 1", r"t.py:2: license: 1 is not text"),
        ("draws = 100\nvalues=['normal','large']\ndtypes=['int8','int16','int32','int64','bool','uint8']", r"1024"),
    ],
)
def test_values_that_have_no_meaning(toml: str, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        read_spec(block(toml))


def test_an_entry_is_a_name() -> None:
    with pytest.raises(UsageError, match=r"t.py:2: entry: 'a b' is not a name"):
        read_entry(block('entry = "a b"'))
