"""Is this code in a box already?"""

from __future__ import annotations

import os
from typing import Optional

# Set by the half that runs in the box.
child = False
_complete: Optional[bool] = None


def is_in_sandbox() -> bool:
    """True in a function that a sandbox runs, and in a program that psb runs.

    It is information for code that wants to behave differently, no defence. A yes makes @sandbox a plain call, so a folder of the right
    name is not enough for one: the kernel must say that this process can gain no rights and wears a filter of system calls."""
    global _complete
    if child:
        return True
    if _complete is None:
        _complete = _boxed()
    return _complete


def _boxed() -> bool:
    try:
        if not os.statvfs("/run/psb").f_flag & os.ST_RDONLY:
            return False
        with open("/proc/self/status", encoding="ascii", errors="replace") as f:
            said = {line.strip() for line in f}
    except OSError:
        return False
    return {"NoNewPrivs:\t1", "Seccomp:\t2"} <= said
