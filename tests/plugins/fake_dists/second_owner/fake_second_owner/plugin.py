from kengine.model import Finding
from kengine.plugins import hookimpl

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_launch(inputs):
    return None
