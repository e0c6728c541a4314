"""`load_inline` and `load`: torch's functions, built in about a second."""

from __future__ import annotations

from typing import Any

from kengine.errors import CandidateFault, InfraError
from kengine.extension import failure, light, toolkit
from kengine.extension.module import Extension, load_light
from kengine.extension.settings import Settings
from kengine.extension.sources import SourceSet, from_files, from_inline
from kengine.simt.fault import CompileError, Unsupported
from kengine.simt.unsupported import find_unsupported

_current: Settings | None = None


def configure(settings: Settings) -> None:
    """Say how this process builds its extensions."""
    global _current
    _current = settings


def current_settings() -> Settings:
    """The settings of this process. RuntimeError before `configure`."""
    if _current is None:
        raise RuntimeError("kengine.extension.configure(Settings(cache=...)) has not been called in this process")
    return _current


def load_inline(
    name: str,
    cpp_sources: Any,
    cuda_sources: Any = None,
    sycl_sources: Any = None,
    functions: Any = None,
    extra_cflags: Any = None,
    extra_cuda_cflags: Any = None,
    extra_sycl_cflags: Any = None,
    extra_ldflags: Any = None,
    extra_include_paths: Any = None,
    build_directory: Any = None,
    verbose: bool = False,
    with_cuda: Any = None,
    with_sycl: Any = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
    *,
    settings: Settings | None = None,
) -> Extension:
    """Build and load an extension from source strings; torch.utils.cpp_extension.load_inline's arguments.

    The build directory and the name play no part in where it is kept: the content does. Raises CandidateFault
    (compile_failed, with the first error and its line), Unsupported for what the emulator cannot run,
    CompilerMissing or TargetUnavailable for a machine without a compiler.
    """
    how = settings or current_settings()
    if sycl_sources:
        raise CandidateFault("unsupported", "SYCL sources are not built here")
    sources = from_inline(
        name,
        cpp_sources,
        cuda_sources,
        functions,
        extra_cflags=extra_cflags,
        extra_cuda_cflags=extra_cuda_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        no_implicit_headers=no_implicit_headers,
        dialect=how.dialect,
        python_module=is_python_module,
    )
    return build(sources, how)


def load(
    name: str,
    sources: Any,
    extra_cflags: Any = None,
    extra_cuda_cflags: Any = None,
    extra_sycl_cflags: Any = None,
    extra_ldflags: Any = None,
    extra_include_paths: Any = None,
    build_directory: Any = None,
    verbose: bool = False,
    with_cuda: Any = None,
    with_sycl: Any = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
    *,
    settings: Settings | None = None,
) -> Extension:
    """Build and load an extension from files; torch.utils.cpp_extension.load's arguments. Raises like `load_inline`."""
    how = settings or current_settings()
    if is_standalone:
        raise CandidateFault("unsupported", "a standalone executable is no extension")
    given = from_files(
        name,
        sources,
        extra_cflags=extra_cflags,
        extra_cuda_cflags=extra_cuda_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        dialect=how.dialect,
        python_module=is_python_module,
    )
    return build(given, how)


def build(sources: SourceSet, settings: Settings) -> Extension:
    """Build and load; first with the light headers, then, where only those are at fault, with torch's own."""
    try:
        made = _build(sources, settings)
    except OSError as error:
        full_disk = failure.find_full_disk(error.strerror or "", settings.cache)
        if full_disk is None:
            raise
        raise full_disk from None
    made.sources = sources
    return made


def _build(sources: SourceSet, settings: Settings) -> Extension:
    headers = settings.headers
    if settings.mode == "emulated":
        for unit in sources.units:
            found = find_unsupported(unit.text)
            if found:
                raise Unsupported(*found[0])
    if headers == "full":
        return _build_full(sources, settings)
    try:
        library = light.build(sources, settings)
    except CompileError as error:
        full_disk = failure.find_full_disk(error.log, settings.cache)
        if full_disk is not None:
            raise full_disk from None
        diagnosis = failure.diagnose(error.log or error.message, sources)
        if not (diagnosis.may_fit and headers == "auto"):
            raise diagnosis.fault("" if headers == "auto" else "the former are not used here") from None
        return _build_full(sources, settings, diagnosis)
    try:
        return load_light(library, sources, settings)
    except OSError as error:
        missing = failure.diagnose_symbol(str(error), sources)
        if missing is None:
            raise
        library.unlink(missing_ok=True)
        raise missing.fault() from None


def _build_full(sources: SourceSet, settings: Settings, why: failure.Diagnosis | None = None) -> Extension:
    """Build with torch's own headers. why: the first error with the light ones, None where they were not tried."""
    from kengine.extension import full

    reason = "torch's own headers are asked for"
    if why is not None:
        where = f"{why.unit}:{why.line}: " if why.line else ""
        reason = f"the light headers do not fit: {where}{why.text}"
    try:
        toolkit.torch_include()
    except CandidateFault as missing:
        raise (why.fault(missing.message) if why is not None else missing) from None
    try:
        return full.build(sources, settings, reason)
    except InfraError as error:
        # A candidate's import is under way, which would take this for its own failure.
        raise CandidateFault("unsupported", f"{reason}, and with torch's own {error}") from None
    except CompileError as error:
        if not error.log:  # the compiler was stopped: nothing is wrong with the candidate
            raise CandidateFault("unsupported", f"{reason}, and with torch's own {error.message}") from None
        full_disk = failure.find_full_disk(error.log, settings.cache)
        raise (full_disk or failure.diagnose(error.log, sources).fault()) from None
