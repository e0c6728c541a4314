"""`cupy.RawKernel` and `cupy.RawModule` of the facade: device sources, compiled and launched by the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kengine.errors import CandidateFault
from kengine.native import observe
from kengine.native.cupy import refuse
from kengine.native.driver import Configuration, Unit
from kengine.native.lines import locate
from kengine.native.signature import is_extern_c

if TYPE_CHECKING:
    from kengine.native.driver import Driver, Module


class _State:
    """The driver in use, the candidate's text, modules by content, and kernels that nobody has compiled yet."""

    driver: Driver
    text = ""

    def __init__(self) -> None:
        self.modules: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Module] = {}
        self.made: list[Any] = []
        self.generated: list[str] = []


_state = _State()


def use(driver: Driver, text: str) -> None:
    """Let kernels go to a driver from here on. text: the candidate's main file."""
    if getattr(_state, "driver", None) is not driver:
        _state.driver = driver
        _state.modules = {}
        _state.made = []
        _state.generated = []
    _state.text = text


def expose(array: Any) -> None:
    """The address of an array has been taken."""
    exposed = getattr(_state.driver, "exposed", None)
    if exposed is not None:
        exposed.add(array)


def build(
    text: str, options: tuple[str, ...], instances: tuple[str, ...], filename: str = "kernel.cu", backend: str = "nvrtc"
) -> Module:
    """Compile a source once. backend: "nvrtc" takes device code only. Raises CandidateFault."""
    key = (text, (*options, backend), instances)
    if key not in _state.modules:
        unit = Unit(text, filename, locate(text, _state.text), options, instances, whole=backend == "nvcc")
        _state.modules[key] = _state.driver.build(unit)
    return _state.modules[key]


def modules() -> tuple[Module, ...]:
    """Everything that has been compiled."""
    return tuple(_state.modules.values())


def note_generated(name: str) -> None:
    """A kernel has been made whose source is generated when it is launched."""
    _state.generated.append(name)


def generated_names() -> tuple[str, ...]:
    """Names of these kernels."""
    return tuple(dict.fromkeys(_state.generated))


def compile_made() -> None:
    """Compile what was made and has not been used yet. Raises CandidateFault when nothing of it compiles."""
    first: CandidateFault | None = None
    compiled = 0
    for kernel in _state.made:
        try:
            kernel.compile()
            compiled += 1
        except CandidateFault as fault:
            # One that is never used does no harm: CuPy compiles at the first call.
            first = first or fault
    _state.made.clear()
    if first is not None and not compiled:
        raise first


def three(value: Any, what: str) -> tuple[int, int, int]:
    """A grid or block as CuPy takes it: a tuple of one to three integers. Raises TypeError, ValueError."""
    if not isinstance(value, tuple):
        raise TypeError(f"Argument '{what}' has incorrect type (expected tuple, got {type(value).__name__})")
    if not 1 <= len(value) <= 3:
        raise ValueError(f"{what} has {len(value)} sizes; a kernel has one to three")
    sizes = [int(getattr(v, "__index__", v.__int__)()) for v in value] + [1, 1]
    return sizes[0], sizes[1], sizes[2]


class Function:
    """A kernel of a compiled module."""

    def __init__(self, module: Module, name: str, cooperative: bool = False) -> None:
        self._module, self.name, self._cooperative = module, name, cooperative
        self.max_dynamic_shared_size_bytes: int | None = None
        self.preferred_shared_memory_carveout = -1

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, stream: Any = None, **_: Any) -> None:
        configuration = Configuration(
            three(grid, "grid"), three(block, "block"), int(shared_mem), self._cooperative,
            self.max_dynamic_shared_size_bytes,
        )  # fmt: skip
        self._module.launch(self.name, configuration, check_arguments(args), strict=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise refuse(f"the attribute {name} of a kernel")


def check_arguments(args: Any) -> tuple[Any, ...]:
    """Arguments of a launch, of the types that CuPy takes. Raises TypeError for a torch tensor and the like."""
    import numpy as np

    from kengine.native.cupy.arrays import MemoryPointer, ndarray

    made: list[Any] = []
    for value in args:
        if isinstance(value, MemoryPointer):
            made.append(value.ptr)
        elif value is None or isinstance(value, (ndarray, bool, int, float, np.generic)):
            made.append(value)
        elif isinstance(value, np.ndarray):
            if value.size != 1:
                raise TypeError(f"You are trying to pass a numpy.ndarray of shape {value.shape} as a kernel parameter. "
                                "Only numpy.ndarrays of size one can be passed by value.")  # fmt: skip
            made.append(value)
        else:
            raise TypeError(f"Unsupported type {type(value)}")
    return tuple(made)


class RawKernel:
    """A kernel from source. It is compiled when it is first called."""

    def __init__(
        self, code: str, name: str, options: Any = (), backend: str = "nvrtc", translate_cucomplex: bool = False, *,
        enable_cooperative_groups: bool = False, jitify: bool = False,
    ) -> None:  # fmt: skip
        self.code, self.name, self.options, self.backend = str(code), str(name), _options(options), backend
        self.max_dynamic_shared_size_bytes: int | None = None
        self.preferred_shared_memory_carveout = -1
        self._cooperative = enable_cooperative_groups
        if translate_cucomplex:
            raise refuse("RawKernel(translate_cucomplex=True)")
        _state.made.append(self)

    def compile(self, log_stream: Any = None) -> None:
        """Compile now. Raises CandidateFault: the source, or a name that it does not define."""
        self._function()

    def _function(self) -> Function:
        instances = (self.name,) if "<" in self.name else ()
        module = build(self.code, self.options, instances, backend=self.backend)
        if self.name not in module.kernels():
            raise observe.current().failed(_missing(self.name, module.kernels()))
        if not instances and not is_extern_c(self.code, self.name):
            raise observe.current().failed(_mangled(self.name))
        return Function(module, self.name, self._cooperative)

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, stream: Any = None, **_: Any) -> None:
        function = self._function()
        function.max_dynamic_shared_size_bytes = self.max_dynamic_shared_size_bytes
        function(grid, block, args, shared_mem=shared_mem)

    @property
    def kernel(self) -> Function:
        """The compiled kernel."""
        return self._function()


class RawModule:
    """A source with several kernels. Templates must be named in `name_expressions`."""

    def __init__(
        self, code: str | None = None, *, path: str | None = None, options: Any = (), backend: str = "nvrtc",
        translate_cucomplex: bool = False, enable_cooperative_groups: bool = False, name_expressions: Any = None,
        jitify: bool = False,
    ) -> None:  # fmt: skip
        if code is None or path is not None:
            raise refuse("RawModule(path=...) of a compiled file")
        if translate_cucomplex:
            raise refuse("RawModule(translate_cucomplex=True)")
        self.code, self.options, self.backend = str(code), _options(options), backend
        self.name_expressions = tuple(name_expressions or ())
        self._cooperative = enable_cooperative_groups
        _state.made.append(self)

    def compile(self, log_stream: Any = None) -> None:
        """Compile now. Raises CandidateFault."""
        self._module()

    def _module(self) -> Module:
        return build(self.code, self.options, self.name_expressions, backend=self.backend)

    def get_function(self, name: str) -> Function:
        """A kernel by name. Raises CandidateFault when the source defines none such."""
        module = self._module()
        if name not in module.kernels():
            raise observe.current().failed(_missing(name, module.kernels()))
        if name not in self.name_expressions and not is_extern_c(self.code, name):
            raise observe.current().failed(_mangled(name))
        return Function(module, name, self._cooperative)

    def get_global(self, name: str) -> Any:
        """The place of a device variable. Raises CandidateFault when there is none such."""
        from kengine.native.cupy.arrays import MemoryPointer, UnownedMemory

        try:
            address, size = self._module().symbol(name)
        except KeyError:
            fault = CandidateFault("launch_failed", f"get_global: the source defines no variable {name!r}")
            raise observe.current().failed(fault) from None
        return MemoryPointer(UnownedMemory(address, size, self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise refuse(f"RawModule.{name}")


def _options(options: Any) -> tuple[str, ...]:
    return (options,) if isinstance(options, str) else tuple(str(option) for option in options)


def _missing(name: str, known: tuple[str, ...]) -> CandidateFault:
    from kengine.tasks.block import suggest

    found = ", ".join(known) or "none"
    return CandidateFault(
        "compile_failed", f"the source defines no kernel {name!r}{suggest(name, known)}; kernels in it: {found}"
    )


def _mangled(name: str) -> CandidateFault:
    return CandidateFault(
        "compile_failed",
        f'kernel {name!r} is not extern "C": its name in the compiled code is another one, and CuPy does not find it',
    )


def names() -> dict[str, Any]:
    """What the module `cupy` gets from here."""
    return {"RawKernel": RawKernel, "RawModule": RawModule}
