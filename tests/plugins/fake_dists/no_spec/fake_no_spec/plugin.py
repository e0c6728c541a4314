from kengine.model import Artifact, Capability, Target, TargetInfo
from kengine.plugins import Outputs, hookimpl



@hookimpl
def kengine_targets():
    missing = "no_spec is a fixture"
    return [TargetInfo(Target("no_spec", "x1"), True, (Capability.compile, Capability.launch), {"time": missing})]


@hookimpl
def kengine_compile(candidate, target):
    return Artifact(target)


@hookimpl
def kengine_launch(inputs):
    return Outputs(inputs.args[0])
