from kengine.model import Finding
from kengine.plugins import hookimpl

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_lint(candidate):
    return [Finding("OD1", "warn", "line is no int", line="7")]
