"""A recorded double of the Neuron packages: the call forms that kengine uses, computed with numpy, each call noted.

`install(folder)` writes packages `nki` and `neuronxcc` that hold these forms and nothing else.
"""

from __future__ import annotations

from pathlib import Path

NKI = '''
import warnings
import numpy as np

calls = []

class Kernel:
    def __init__(self, function, options, grid=None):
        self.function, self.options, self.grid = function, options, grid
    def __getitem__(self, grid):
        if not isinstance(grid, int):
            raise TypeError(f"NKI only supports LNC 1 or 2, but got {grid}")
        return Kernel(self.function, self.options, grid)
    def __call__(self, *args, **kwargs):
        calls.append(("run", self.function.__name__, self.grid))
        return self.function(*args, **kwargs)

def jit(fn=None, **options):
    return Kernel(fn, options) if fn is not None else lambda f: Kernel(f, options)

def simulate(kernel):
    def run(*args, **kwargs):
        assert all(type(a).__module__ in ("numpy", "builtins") for a in args), args
        calls.append(("simulate", kernel.function.__name__, kernel.grid))
        return kernel.function(*args, **kwargs)
    return run
'''

ISA = '''
import warnings

def check(condition, message):
    assert condition, message

def hazard():
    warnings.warn("accumulation onto written PSUM: incorrect results on hardware")
'''

FRONTEND = '''
import nki

class ParserFrontend:
    def compile(self, func, inputs, target, lnc, artifacts_dir):
        shapes = {k: getattr(v, "shape", v) for k, v in inputs.items()}
        nki.calls.append(("frontend", func.__name__, shapes, target, lnc))
        if "refused" in func.__name__:
            raise RuntimeError("lowering\\nerror: NCC_ABCD123 tensor too large for SBUF\\ndone")
        return func.__name__
'''

DRIVER = '''
import nki

class CompileOptions:
    def __init__(self, target, lnc, output_path, artifacts_dir, neuronx_cc_args):
        self.path = output_path
        nki.calls.append(("options", target, lnc, neuronx_cc_args))

class CompiledKernel:
    def __init__(self, path):
        self.neff_path = path
    @classmethod
    def from_frontend(cls, result, options):
        with open(options.path, "wb") as file:
            file.write(b"NEFF" + result.encode())
        return cls(options.path)
'''

OLD = '''
calls = []

class Kernel:
    def __init__(self, function, grid=None):
        self.function, self.grid = function, grid
    def __getitem__(self, grid):
        return Kernel(self.function, grid)

def jit(func=None, mode="auto", **kwargs):
    return Kernel(func) if func is not None else lambda f: Kernel(f)

def simulate_kernel(kernel, *args, **kwargs):
    calls.append(("simulate_kernel", kernel.function.__name__, kernel.grid))
    return kernel.function(*args, **kwargs)

def baremetal(kernel, save_neff_name=None, artifacts_dir=None):
    def run(*args, **kwargs):
        calls.append(("baremetal", kernel.function.__name__, save_neff_name is not None))
        if save_neff_name:
            with open(save_neff_name, "wb") as file:
                file.write(b"NEFFold")
            raise RuntimeError("nrt_init failed: no device")
        return kernel.function(*args, **kwargs)
    return run
'''


def install(folder: Path, version: str = "0.6.0") -> None:
    """Write both packages and their metadata below `folder`."""
    files = {
        "nki/__init__.py": NKI,
        "nki/isa.py": ISA,
        "nki/language.py": "",
        "nki/compiler/__init__.py": "",
        "nki/compiler/frontend.py": FRONTEND,
        "nki/compiler/ncc_driver.py": DRIVER,
        "neuronxcc/__init__.py": "",
        "neuronxcc/nki/__init__.py": OLD,
        f"nki-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: nki\nVersion: {version}\n",
        "neuronx_cc-2.22.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: neuronx-cc\nVersion: 2.22.0\n",
    }
    write(folder, files)


def install_placeholders(folder: Path) -> None:
    """Write what the public index carries under these names."""
    files = {
        "nki/__init__.py": "raise ImportError('WRONG PACKAGE')\n",
        "neuronx-cc/__init__.py": "raise ImportError('WRONG PACKAGE')\n",
        "nki-0.0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: nki\nVersion: 0.0.1\n",
        "neuronx_cc-1.0.post1.dist-info/METADATA": "Metadata-Version: 2.1\nName: neuronx-cc\nVersion: 1.0.post1\n",
    }
    write(folder, files)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
