"""The process in which NVRTC compiles: a program of its own, of the standard library alone.

A compiler that ends its process ends this one, in which no candidate's code has run. It reads requests from its
standard input and writes answers to its standard output: eight bytes of length, then `marshal`'s form of a tuple. It
ends with its standard input.
"""

import ctypes as c
import marshal
import os
import sys


def main(path: str) -> None:
    """Answer requests until there are no more. path: the library."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints is no answer
    library = c.CDLL(path)
    library.nvrtcGetErrorString.restype = c.c_char_p
    while True:
        size = requests.read(8)
        if len(size) < 8:
            return
        source, filename, options, names, headers = marshal.loads(requests.read(int.from_bytes(size, "little")))
        answer = marshal.dumps(_compile(library, source, filename, options, names, headers))
        answers.write(len(answer).to_bytes(8, "little") + answer)
        answers.flush()


def _compile(library, source, filename, options, names, headers):  # type: ignore[no-untyped-def]
    """(problem, log, binary, mangled names, release): problem is "" when it compiles."""
    release = (c.c_int(), c.c_int())
    library.nvrtcVersion(c.byref(release[0]), c.byref(release[1]))
    program = c.c_void_p()
    texts, keys = list(headers.values()), list(headers)
    log = b""
    lowered = {}
    binary = b""
    try:
        code = library.nvrtcCreateProgram(
            c.byref(program), source, filename, len(texts), (c.c_char_p * max(1, len(texts)))(*texts),
            (c.c_char_p * max(1, len(keys)))(*keys),
        )  # fmt: skip
        for name in names:
            code = code or library.nvrtcAddNameExpression(program, name)
        if not code:
            code = library.nvrtcCompileProgram(program, len(options), (c.c_char_p * max(1, len(options)))(*options))
            log = _bytes(library, program, "ProgramLog").rstrip(b"\0")
        if not code:
            for name in names:
                mangled = c.c_char_p()
                if library.nvrtcGetLoweredName(program, name, c.byref(mangled)) == 0 and mangled.value:
                    lowered[name] = mangled.value
            binary = _bytes(library, program, "CUBIN")
        problem = library.nvrtcGetErrorString(code) if code else b""
        return problem, log, binary, lowered, (release[0].value, release[1].value)
    finally:
        library.nvrtcDestroyProgram(c.byref(program))


def _bytes(library, program, what):  # type: ignore[no-untyped-def]
    size = c.c_size_t()
    if getattr(library, f"nvrtcGet{what}Size")(program, c.byref(size)):
        return b""
    buffer = c.create_string_buffer(max(1, size.value))
    getattr(library, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw[: size.value]


if __name__ == "__main__":
    main(sys.argv[1])
