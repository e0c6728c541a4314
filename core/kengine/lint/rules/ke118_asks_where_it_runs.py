"""The candidate asks where it runs and who runs it.

What it does:
Finds variables of continuous integration, of harnesses and of kengine in `os.environ`, and questions for host name,
user, process, its limits, command line, own path and folder. Tuning knobs in the environment are fine.

Why is this bad:
Code that tells a test from the real thing can behave in the test. It is a warning: the runner's environment is
scrubbed and the same in every phase.

Example:
    if "PYTEST_CURRENT_TEST" in os.environ:
        return exact(x)

Use instead:
    Let the shape, dtype and device of the arguments decide.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_VARIABLES = re.compile(
    r"(CI|GITHUB_.*|PYTEST_.*|POPCORN_.*|KENGINE.*|KERNELBENCH.*|TRITON_INTERPRET|BENCHMARK.*|EVAL_.*|.*_EVAL|"
    r"LEADERBOARD.*|NUMBA_ENABLE_CUDASIM|HOSTNAME|USER|LOGNAME)\Z"
)
_NAMES = frozenset({
    "sys.argv", "sys.orig_argv", "sys.flags", "platform.node", "platform.uname", "socket.gethostname", "os.uname",
    "os.getlogin", "os.getppid", "getpass.getuser", "os.listdir", "os.scandir", "os.walk", "pathlib.Path.cwd",
    "os.getcwd", "glob.glob", "uuid.getnode", "resource.getrusage", "resource.getrlimit", "resource.prlimit",
    "sys.gettrace", "sys.getprofile", "sys.getrecursionlimit", "sys.setrecursionlimit", "gc.get_count", "gc.get_stats",
    "torch._C._get_dispatch_stack_at", "torch.utils._python_dispatch._get_current_dispatch_mode",
})  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names, and for the keys that are asked of the environment."""
    for node, name in source.references():
        if name in _NAMES:
            yield hit(node, f"{name} asks where the candidate runs; nothing about its result may hang on that")
        elif name in ("os.environ", "os.environb") and isinstance(
            source.parents.get(node), (ast.For, ast.comprehension)
        ):
            yield hit(node, "goes through the whole environment")
    for constant in source.find(ast.Constant):
        key = constant.value
        if isinstance(key, str) and _VARIABLES.match(key) and _is_asked(source, constant):
            yield hit(constant, f"asks for the environment variable {key}")


def _is_asked(source: SourceTree, node: ast.Constant) -> bool:
    """Whether a text is the key of a look-up in the environment."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Load) and "os.environ" in source.resolve(parent.value)
    if isinstance(parent, ast.Compare):
        return any("os.environ" in source.resolve(side) for side in parent.comparators)
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
        if "os.getenv" in source.resolve(parent.func):
            return True
        return isinstance(parent.func, ast.Attribute) and "os.environ" in source.resolve(parent.func.value)
    return False


RULE = Rule("KE118", "asks-where-it-runs", "warn", check, __doc__)
