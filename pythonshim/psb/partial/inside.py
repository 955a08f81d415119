"""Is this code in a box already?"""

from __future__ import annotations

import os

# Set by the half that runs in the box.
child = False
_complete = os.path.isdir("/run/psb")


def is_in_sandbox() -> bool:
    """True in a function that a sandbox runs, and in a program that psb runs.

    It is information for code that wants to behave differently, no defence: whoever may make a folder in /run can make it say so."""
    return child or _complete
