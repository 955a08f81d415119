"""What psb mcp --ask asks before code runs, and what a Toolkit answers."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional

from psb.errors import SandBoxProtocolError

OnAsk = Callable[[str], Any]


def question_of(raw: Mapping[str, Any]) -> Optional[str]:
    """What is asked, where an answer is a question."""
    if raw.get("resultType") != "input_required":
        return None
    try:
        text = raw["inputRequests"]["run"]["params"]["message"]
    except (KeyError, TypeError):
        text = None
    if not isinstance(text, str) or not isinstance(raw.get("requestState"), str):
        raise SandBoxProtocolError("psb: psb mcp asks what is not known here")
    return text


def answer_to(raw: Mapping[str, Any], yes: bool) -> Dict[str, Any]:
    """What goes with the same request once more."""
    said: Dict[str, Any] = {"action": "accept", "content": {}} if yes else {"action": "decline"}
    return {"requestState": raw["requestState"], "inputResponses": {"run": said}}
