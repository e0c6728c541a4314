from kengine.model import Finding
from kengine.plugins import hookimpl

KENGINE_SPEC = (1, 0)


import a_toolchain_that_nobody_has
