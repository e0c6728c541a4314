from kengine.model import Finding
from kengine.plugins import hookimpl

KENGINE_SPEC = (1, 0)

SEEN = []


@hookimpl
def kengine_stage_finished(stage, record):
    SEEN.append((stage, record))
