"""What an AMD code object says about its kernels: the msgpack map in its notes, read without a driver."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass

NT_AMDGPU_METADATA = 32
"""Type of the note, owner "AMDGPU" (LLVM, "User Guide for AMDGPU Backend", code object V3 and later)."""

_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_ELF = b"\x7fELF"


class CodeObjectError(ValueError):
    """Bytes that are no code object, or one that cannot be read."""


@dataclass(frozen=True)
class KernelCode:
    """One kernel. Sizes in bytes, registers of 32 bits, spills in registers.

    vector: all vector registers of a lane, accumulation registers included where the file is one (gfx90a and later).
    shared: static local memory. scratch: private memory of a lane. threads: the most that a work-group may have.
    arguments: type kinds as the metadata names them, hidden ones left out.
    """

    name: str
    vector: int
    accumulation: int
    scalar: int
    vector_spills: int
    scalar_spills: int
    shared: int
    scratch: int
    lanes: int
    threads: int
    dynamic_stack: bool
    argument_bytes: int
    arguments: tuple[str, ...]


def read_kernels(data: bytes) -> tuple[KernelCode, ...]:
    """The kernels of a code object, or of the first one in a bundle. Raises CodeObjectError."""
    import msgpack
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import NoteSection

    elf = unbundle(data)
    try:
        found: list[KernelCode] = []
        for section in ELFFile(io.BytesIO(elf)).iter_sections():
            if not isinstance(section, NoteSection):
                continue
            for note in section.iter_notes():
                if note["n_name"] == "AMDGPU" and note["n_type"] in (NT_AMDGPU_METADATA, str(NT_AMDGPU_METADATA)):
                    metadata = msgpack.unpackb(note["n_descdata"], strict_map_key=False)
                    found += [_kernel(entry) for entry in metadata.get("amdhsa.kernels", ())]
    except (ELFError, ValueError, KeyError, TypeError, msgpack.exceptions.UnpackException) as error:
        raise CodeObjectError(f"the code object's notes cannot be read: {error}") from error
    return tuple(found)


def unbundle(data: bytes) -> bytes:
    """The device ELF in what a compiler wrote: itself, or an offload bundle of it. Raises CodeObjectError."""
    if data.startswith(_ELF):
        return data
    if not data.startswith(_BUNDLE):
        raise CodeObjectError(f"neither an ELF file nor an offload bundle: it begins with {data[:8]!r}")
    (count,) = struct.unpack_from("<Q", data, len(_BUNDLE))
    at = len(_BUNDLE) + 8
    for _ in range(min(count, 64)):
        offset, size, length = struct.unpack_from("<QQQ", data, at)
        name = data[at + 24 : at + 24 + length]
        at += 24 + length
        part = data[offset : offset + size]
        if b"amdgcn" in name and part.startswith(_ELF):
            return part
    raise CodeObjectError("the offload bundle holds no AMD code object")


def _kernel(entry: dict[str, object]) -> KernelCode:
    def number(key: str) -> int:
        value = entry.get(key, 0)
        return value if isinstance(value, int) else 0

    arguments = entry.get(".args", ())
    kinds = [str(a.get(".value_kind", "")) for a in arguments if isinstance(a, dict)] if isinstance(
        arguments, (list, tuple)) else []  # fmt: skip
    return KernelCode(
        name=str(entry.get(".name", "")),
        vector=number(".vgpr_count"),
        accumulation=number(".agpr_count"),
        scalar=number(".sgpr_count"),
        vector_spills=number(".vgpr_spill_count"),
        scalar_spills=number(".sgpr_spill_count"),
        shared=number(".group_segment_fixed_size"),
        scratch=number(".private_segment_fixed_size"),
        lanes=number(".wavefront_size"),
        threads=number(".max_flat_workgroup_size"),
        dynamic_stack=bool(entry.get(".uses_dynamic_stack", False)),
        argument_bytes=number(".kernarg_segment_size"),
        arguments=tuple(kind for kind in kinds if not kind.startswith("hidden")),
    )
