"""What a Toolkit gives to the code of every run: values under names, as the option of psb mcp takes them."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from typing import Any, Iterator, List, Mapping, Optional

from psb.errors import SandBoxError


def values_text(values: Optional[Mapping[str, Any]]) -> Optional[str]:
    """The values as JSON; whether the names can be given says psb."""
    if values is None:
        return None
    try:
        return json.dumps(dict(values), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as e:
        raise SandBoxError(f"psb: values: they have no JSON form: {e}") from None


@contextmanager
def as_option(text: Optional[str]) -> Iterator[List[str]]:
    """The option, for a psb that reads the file before the block ends."""
    if text is None:
        yield []
        return
    with tempfile.NamedTemporaryFile("w", prefix="psb-values-", suffix=".json", encoding="ascii") as f:
        f.write(text)
        f.flush()
        yield [f"--values={f.name}"]
