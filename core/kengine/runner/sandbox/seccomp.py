"""A filter over system calls: no debugging of others, no mounts, no namespaces, no network, no kernel interfaces.

The program is classic BPF as linux/filter.h and linux/seccomp.h define it; refused calls fail with EPERM, so that
an honest program that merely tries goes on.
"""

from __future__ import annotations

import ctypes
import struct

from kengine.runner.sandbox import syscalls

_REFUSED = {
    # name: (x86_64, aarch64); None where the architecture has no such call
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "kcmp": (312, 272), "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "userfaultfd": (323, 282),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "syslog": (103, 116), "vhangup": (153, 58), "fanotify_init": (300, 262), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None),
}  # fmt: skip
_ARCH = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CLONE, _CLONE3, _SOCKET, _KILL = {"x86_64": 56, "aarch64": 220}, 435, {"x86_64": 41, "aarch64": 198}, {
    "x86_64": 62, "aarch64": 129}  # fmt: skip
_NEW_NAMESPACES = 0x7E020000
_AF_UNIX, _AF_NETLINK = 1, 16
_ALLOW, _KILL_PROCESS, _EPERM, _EACCES, _ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x5000D, 0x50026
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARG0 = 0, 4, 16


def program(unix_sockets: bool = True, kill_only: int | None = None, machine: str = syscalls.MACHINE) -> bytes:
    """Assemble the filter; b"" for a machine that it does not know.

    unix_sockets: whether sockets on this machine may be made at all. kill_only: the one process that may be sent
    signals by `kill`, for where nothing stronger keeps signals in.
    """
    if machine not in _ARCH:
        return b""
    column, architecture = _ARCH[machine]
    code: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        x32 = 0x40000000
        code += [(_AT_LEAST, 0, 1, x32), (_RETURN, 0, 0, _ENOSYS)]
    # The flags of clone3 lie in memory, out of a filter's sight; without it the C library takes clone.
    code += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ENOSYS)]
    code += [
        (_EQUAL, 0, 3, _CLONE[machine]), (_LOAD, 0, 0, _ARG0),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES), (_RETURN, 0, 0, _EPERM), (_LOAD, 0, 0, _NUMBER),
    ]  # fmt: skip
    families = (_AF_UNIX, _AF_NETLINK) if unix_sockets else ()
    code += [(_EQUAL, 0, 2 + len(families), _SOCKET[machine]), (_LOAD, 0, 0, _ARG0)]
    code += [(_EQUAL, len(families) - i, 0, family) for i, family in enumerate(families)]
    code += [(_RETURN, 0, 0, _EACCES), (_LOAD, 0, 0, _NUMBER)]
    if kill_only is not None:
        code += [
            (_EQUAL, 0, 4, _KILL[machine]), (_LOAD, 0, 0, _ARG0),
            (_EQUAL, 1, 0, kill_only), (_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ALLOW),
        ]  # fmt: skip
    numbers = [row[column] for row in _REFUSED.values() if row[column] is not None]
    code += [(_EQUAL, len(numbers) - i, 0, number or 0) for i, number in enumerate(numbers)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EPERM)]
    return b"".join(struct.pack("=HBBI", op, true, false, value) for op, true, false, value in code)


def install(code: bytes) -> bool:
    """Put the filter over this process and its children for good. Returns whether it is in force."""
    if not code:
        return False
    text = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(text))
    set_mode_filter, keep_speculation = 1, 4
    try:
        syscalls.call("seccomp", set_mode_filter, keep_speculation, header)
    except OSError:
        return False
    return True
