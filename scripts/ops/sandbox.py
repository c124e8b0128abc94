"""Becomes a program as a systemd unit would run it, where no systemd runs: its filter of system calls, and memory that is
either written or executed. What the filter lacks ends the program here at once (SIGSYS), though the unit only refuses it: so that a
call is seen that is missed quietly otherwise.

  /usr/bin/python3 sandbox.py UNIT PROGRAM [ARGUMENT...]
"""

import ctypes
import os
import re
import struct
import subprocess
import sys

ALLOW, KILL = 0x7FFF0000, 0x80000000
LOAD, EQUALS, ANY_BIT, ALL, AND = 0x20, 0x15, 0x45, 0x06, 0x54
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
WRITE, EXECUTE = 2, 4
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
NUMBER, ARCHITECTURE = 0, 4


def argument(place):
    return 16 + 8 * place


def settings(path):
    found = {}
    for line in open(path, encoding="utf-8"):
        name, is_set, value = line.partition("=")
        if is_set and not line.startswith("#"):
            found.setdefault(name.strip(), []).append(value.strip())
    return found


def members(name):
    """The calls of a set such as @system-service, as systemd knows it."""
    if not name.startswith("@"):
        return {name}
    listed = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True).stdout
    words = {line.strip() for line in listed.splitlines()[1:]} - {""}
    return set().union(*(members(word) for word in words if not word.startswith("#")))


def allowed(unit):
    calls = set()
    for line in unit["SystemCallFilter"]:
        named = set().union(*(members(name) for name in line.lstrip("~").split()))
        calls = calls - named if line.startswith("~") else calls | named
    return calls


def numbers():
    text = subprocess.run(["cc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"], check=True, capture_output=True, text=True)
    return {name: int(value) for name, value in re.findall(r"#define __NR_(\w+) (\d+)$", text.stdout, re.MULTILINE)}


def program(unit):
    """A filter of the kernel (seccomp(2)): what is asked, and how far to jump when it is so and when not."""
    known = numbers()
    lines = [(LOAD, 0, 0, ARCHITECTURE), (EQUALS, 1, 0, ARCHITECTURES[os.uname().machine]), (ALL, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if unit.get("MemoryDenyWriteExecute") == ["yes"]:
        both = WRITE | EXECUTE
        lines += [(EQUALS, 0, 5, known["mmap"]), (LOAD, 0, 0, argument(2)), (AND, 0, 0, both), (EQUALS, 0, 1, both), (ALL, 0, 0, KILL), (ALL, 0, 0, ALLOW)]
        for name in ("mprotect", "pkey_mprotect"):
            lines += [(EQUALS, 0, 4, known[name]), (LOAD, 0, 0, argument(2)), (ANY_BIT, 0, 1, EXECUTE), (ALL, 0, 0, KILL), (ALL, 0, 0, ALLOW)]
    families = [FAMILIES[name] for name in unit["RestrictAddressFamilies"][0].split()]
    lines += [(EQUALS, 0, 2 + 2 * len(families), known["socket"]), (LOAD, 0, 0, argument(0))]
    for family in families:
        lines += [(EQUALS, 0, 1, family), (ALL, 0, 0, ALLOW)]
    lines += [(ALL, 0, 0, KILL)]
    for name in sorted(allowed(unit) & known.keys()):
        lines += [(EQUALS, 0, 1, known[name]), (ALL, 0, 0, ALLOW)]
    return lines + [(ALL, 0, 0, KILL)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]


def main():
    lines = program(settings(sys.argv[1]))
    packed = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    filtered = Program(len(lines), ctypes.cast(packed, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    # PR_SET_NO_NEW_PRIVS, then PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
    for call in ((38, 1, 0, 0, 0), (22, 2, ctypes.byref(filtered), 0, 0)):
        if libc.prctl(*call):
            sys.exit(f"sandbox: {os.strerror(ctypes.get_errno())}")
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
