from kengine.model import Finding
from kengine.plugins import hookimpl

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_stage_finished(stage, record):
    raise OSError("disk full")
