"""C++ code reaches the system: processes, libraries, memory, files, the environment.

What it does:
Finds calls of `system`, `popen`, `fork`, the exec family, `kill`, `_exit`, `ptrace`, `process_vm_readv`, `mprotect`,
`dlopen` and `dlsym`, sockets, and definitions of constructors that run at load; files, environment and shared memory
are a warning.

Why is this bad:
A kernel's host code allocates, launches and returns. What reaches the system from there does so where Python's checks
cannot see it.

Example:
    void* f = dlsym(dlopen("libcublas.so", RTLD_NOW), "cublasSgemm_v2");

Use instead:
    Launch the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_REJECTED = re.compile(
    r"(?:system|popen|v?fork|exec(?:l|lp|le|v|vp|ve|vpe)|posix_spawnp?|kill|killpg|_exit|_Exit|quick_exit|abort|raise|"
    r"ptrace|process_vm_(?:read|write)v|mprotect|dlopen|dlmopen|dlsym|dlvsym|dl_iterate_phdr|syscall|prctl|socket|connect|"
    r"clone|unshare|dup2|sigaction|setrlimit|cuGetProcAddress(?:_v2)?|LoadLibraryA)\Z"
)
_WARNED = re.compile(
    r"(?:f?open(?:at)?|fopen|freopen|getenv|secure_getenv|setenv|putenv|unsetenv|shm_open|memfd_create|mmap|shmget|"
    r"gethostname|getpid|getppid|sched_setaffinity|nice|usleep|nanosleep|sleep|sleep_for|atexit|"
    r"(?:cuda|hip)Malloc(?:Managed|Host)|cuMemGetAddressRange(?:_v2)?|cuModuleLoad(?:Data)?(?:Ex)?|hipModuleLoad(?:Data)?)\Z"
)
_STREAMS = frozenset({"ifstream", "ofstream", "fstream", "filesystem"})
_KNOWN = frozenset({"", "std", "unistd", "posix"})
_HARMLESS = frozenset({"cudaMallocManaged", "hipMallocManaged", "cudaMallocHost", "hipMallocHost"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at functions of the system by their names."""
    native = find_native(source)
    for cpp, name in native.names():
        last = name.parts[-1]
        space = name.parts[0] if len(name.parts) > 1 else ""
        function = cpp.unit.inside(name.at)
        if function is None or function.is_kernel or function.is_device or function.name not in native.reached:
            continue
        if space == "std" and last in _STREAMS:
            yield cpp.hit(name.at, f"{name.text} reads or writes files", "warn")
        elif (
            name.member
            or (space not in (*_KNOWN, "this_thread") and len(name.parts) > 1)
            or name.arguments is None
            or last in native.declared
            or last in _HARMLESS
        ):
            continue
        elif _REJECTED.match(last) and not context.allows(last):
            if (
                last in ("abort", "raise", "_exit", "quick_exit", "_Exit", "connect", "clone", "socket")
                and space == "std"
            ):
                continue
            severity = "warn" if last in ("abort", "raise", "syscall", "clone", "connect", "sigaction") else "reject"
            yield cpp.hit(name.at, f"{last} reaches processes, libraries or memory beyond the kernel", severity)  # type: ignore[arg-type]
        elif _WARNED.match(last):
            yield cpp.hit(name.at, f"{last} asks the system for something that a kernel does not need", "warn")


RULE = Rule("KE406", "native-system", "reject", check, __doc__, ALL)
