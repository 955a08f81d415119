"""Where the psb program is."""

from __future__ import annotations

import os
import shutil
from typing import Optional

from psb.errors import SandBoxError


def find_psb(psb: Optional[str], named_by: str) -> str:
    """The psb program: the argument, else PSB of the environment, else on PATH. `named_by` is how a caller would name it."""
    named = psb or os.environ.get("PSB")
    found = shutil.which(named or "psb")
    if found is None:
        e = SandBoxError(f"psb: no program {named or 'psb'}" + ("" if named else " on PATH") + ": a sandbox needs it")
        e.hint = f"install psb, or {named_by}(psb=\"/path/to/psb\")"
        raise e
    return found
