import itertools

import pytest
from kengine import errors
from kengine.cli.failure import ORDER, explain, worst


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("said so"), 2),
        (errors.TaskError("said so"), 2),
        (errors.TargetSyntaxError("said so"), 2),
        (errors.PluginLoadError("said so", "acme", "acme-kernels"), 3),
        (errors.ContractViolation("said so", "acme", "acme-kernels"), 3),
        (errors.TargetUnavailable("said so"), 4),
        (errors.InfraError("said so"), 5),
        (errors.WorkerLost("said so"), 5),
        (RuntimeError("said so"), 5),
    ],
)
def test_every_error_is_one_line_with_its_exit_code(error, code, capsys, monkeypatch) -> None:
    monkeypatch.delenv("KENGINE_DEBUG", raising=False)
    assert explain(error) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    first = captured.err.splitlines()[0]
    assert first.startswith("kengine: error: ") and first.endswith("said so")
    assert "Traceback" not in captured.err


def test_a_plugin_error_names_the_distribution(capsys) -> None:
    explain(errors.PluginLoadError("broken", "acme", "acme-kernels"))
    assert "acme-kernels" in capsys.readouterr().err


def test_debugging_adds_the_traceback(capsys, monkeypatch) -> None:
    monkeypatch.setenv("KENGINE_DEBUG", "1")
    try:
        raise errors.InfraError("lost")
    except errors.InfraError as error:
        assert explain(error) == 5
    assert "Traceback" in capsys.readouterr().err


def test_the_message_cannot_drive_the_terminal(capsys) -> None:
    explain(errors.UsageError("bad \x1b[2J name"))
    assert "\\x1b[2J" in capsys.readouterr().err


def test_the_worst_exit_code() -> None:
    assert worst([]) == 0
    assert worst([0, 1, 0]) == 1
    assert worst([1, 4]) == 4
    assert worst([4, 2]) == 2
    assert worst([2, 3]) == 3
    assert worst([3, 5, 0]) == 5
    for codes in itertools.permutations(ORDER):
        assert worst(list(codes)) == 5
