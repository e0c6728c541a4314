"""Every exception that kengine raises, and the exit code of the command for each.

    KengineError
      UsageError            2   the caller asked for something that makes no sense
        TaskError               the task is broken: its reference raises, accepts zeros, ...
        TargetSyntaxError       a target that is not BACKEND:ARCH
      PluginError           3   a backend or plugin broke its contract (names plugin and distribution)
        BackendNotFound, BackendConflict, PluginLoadError, SpecMismatch, ContractViolation
      TargetUnavailable     4   the target cannot do this on this machine (says what is missing)
      InfraError            5   the machine failed; the work was retried first; no verdict, no reward
        WorkerLost, DeviceLost
        InternalError           kengine itself failed: a bug, told with the place in its code

`CandidateFault` is not in the tree on purpose: a backend or a runner raises it about the kernel under judgement,
the pipeline turns it into a record, and no caller of kengine ever sees it.
"""

from __future__ import annotations

from typing import ClassVar


class KengineError(Exception):
    """Root of what kengine raises; `exit_code` is what the command ends with."""

    exit_code: ClassVar[int] = 2


class UsageError(KengineError):
    """The request makes no sense: unknown option, asking an emulator for a time, no candidate in a file."""

    exit_code = 2


class TaskError(UsageError):
    """The task cannot be judged; the message says which of its parts is broken and how to mend it."""


class TargetSyntaxError(UsageError):
    """A target string that is not `BACKEND:ARCH`."""


class PluginError(KengineError):
    """A plugin is at fault; carries the plugin's name and the distribution that ships it."""

    exit_code = 3

    def __init__(self, message: str, plugin: str = "", distribution: str = "") -> None:
        super().__init__(message)
        self.plugin = plugin
        self.distribution = distribution


class BackendNotFound(PluginError):
    """No installed distribution offers a backend of this name."""


class BackendConflict(PluginError):
    """Two distributions offer the backend that was asked for, or two plugins own one exclusive hook."""


class PluginLoadError(PluginError):
    """Importing a plugin raised, or its module is not a plugin."""


class SpecMismatch(PluginError):
    """A plugin was written for a hook specification that this kengine does not speak."""


class ContractViolation(PluginError):
    """A hook returned the wrong type or raised something that a hook may not raise."""


class TargetUnavailable(KengineError):
    """The target exists but cannot do what was asked on this machine; the message says what would be needed."""

    exit_code = 4


class InfraError(KengineError):
    """The machine failed, not the candidate: retried on fresh processes first, then raised."""

    exit_code = 5


class DeadlineExceeded(InfraError):
    """No verdict within the time that the caller gave; nothing is said about the candidate."""


class WorkerLost(InfraError):
    """A judge or a zygote died or stopped answering."""


class DeviceLost(InfraError):
    """A device stopped working: driver error in the trusted process, no memory left by others."""


class InternalError(InfraError):
    """Kengine itself failed, by a mistake in its own code; nothing is said about candidate, task or machine."""

    @classmethod
    def of(cls, error: BaseException) -> InternalError:
        """What stands for an exception that is none of kengine's: place and last line of its traceback."""
        import traceback

        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
        try:
            last = " ".join(traceback.format_exception_only(type(error), error)[-1].split())
        except Exception:  # its own text may be what fails
            last = f"{type(error).__name__}, whose text cannot be had"
        blame = f"a mistake of kengine's own{place}, which says nothing about the candidate"
        return cls(f"{blame}; please report it: {last[:1000]}")


class CandidateFault(Exception):
    """The kernel under judgement is at fault.

    status: value of `kengine.model.Status` (compile_failed, launch_failed, crashed, unsupported, ...).
    message: one sentence for a person, with the candidate's own line where there is one.
    log: full compiler or traceback text; line: 1-based line in the candidate file, 0 when unknown.
    """

    def __init__(self, status: str, message: str, log: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.log = log
        self.line = line
