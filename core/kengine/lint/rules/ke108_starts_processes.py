"""The candidate starts, ends or attacks processes.

What it does:
Finds `os.fork`, `os.exec*`, `os.spawn*`, `os.system`, `os.kill`, `os._exit`, `subprocess`, `multiprocessing`, signals
and their handlers, writing to descriptors (`os.write`, `os.dup2`), and `/proc` memory files. Compilers that a library
starts for the candidate are not seen by this rule, and not meant.

Why is this bad:
A child process works where nobody measures it, a signal handler when nobody does, and ending or killing a process is a
way to leave before the check.

Example:
    os._exit(0)

Use instead:
    Return the result. To build an extension use the toolchain of the backend.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = (
    "os.fork", "os.forkpty", "os.system", "os.popen", "os.kill", "os.killpg", "os._exit", "os.abort",
    "os.posix_spawn", "os.posix_spawnp", "os.ptrace", "pty.spawn", "pty.fork", "subprocess", "multiprocessing",
    "torch.multiprocessing", "signal", "_posixsubprocess", "pip", "psutil",
    "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "posix.fork", "posix._exit",
    "os.dup2", "os.fdopen", "os.write", "os.sendfile", "os.setsid",
    "concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process", "ctypes.pythonapi",
)  # fmt: skip
_HARMLESS = ("subprocess.PIPE", "subprocess.DEVNULL", "subprocess.CalledProcessError", "multiprocessing.cpu_count")
_FAMILIES = re.compile(r"os\.(exec|spawn)[lv]p?e?\Z")
_MEMORY = re.compile(r"/proc/(self|thread-self|\d+|\{\})/(mem|maps|pagemap|fd|environ|task)")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names, and for paths of process memory in folded text."""
    for node, name in source.references():
        if (is_within(name, _NAMES) and not is_within(name, _HARMLESS)) or _FAMILIES.match(name):
            if isinstance(source.parents.get(node), ast.ExceptHandler) or context.allows(name):
                continue
            yield hit(node, f"{name} starts, ends or reaches into processes; a kernel runs in the one that it is given")
    for call, _ in source.calls():
        for argument in call.args[:1]:
            path = source.fold(argument)
            if path and _MEMORY.search(path):
                yield hit(call, f"opens {path}, memory or descriptors of a process")


RULE = Rule("KE108", "starts-processes", "reject", check, __doc__)
