"""guarded_eval: text evaluated under a profile, in a child that can be killed or, for hot loops, in this process."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from psb.evals import active, parsed, profile as profile_of
from psb.evals.rules import Rules


def guarded_eval(
    src: str,
    profile: str = "",
    names: Optional[Mapping[str, Any]] = None,
    mode: str = "eval",
    *,
    in_process: bool = False,
    rules: Optional[Mapping[str, Any]] = None,
) -> Any:
    """The value of src (mode "eval"), or the dict of the variables it made (mode "exec").

    src sees names and what the profile grants, nothing else. The profile is one of the box's policy; `rules`, a mapping with the keys of
    [python.eval], stands in its place. What comes back is data: the codec's from a child; in this process exact built-in data and the objects of
    names themselves. Variables that are no data are left out.

    A child ends at the profile's timeout, whatever it does. In this process the timeout is looked at where text turns a loop or calls its own
    functions; one long call of C is not interrupted.

    EvalSyntaxRejected: before it runs, with every violation. RuleEvalPermissionError: while it runs, or for a result that is no data.
    EvalInterrupted: a limit. ValueError: no such profile, unknown mode, wrong rules. SandBoxError: no child can be started."""
    if mode != "eval" and mode != "exec":
        raise ValueError(f'psb: mode is "eval" or "exec", not {mode!r}')
    judged = parsed(rules, profile) if rules is not None else _active(profile)
    if in_process:
        from psb.evals.run import here

        return here(src, mode, judged, names)
    from psb.evals.child import evaluate

    return evaluate(src, mode, judged, names)


def _active(name: str) -> Rules:
    if not active():
        raise ValueError("psb: no eval profile is active: run under psb with [python.eval] in the policy, or pass rules={...}")
    return profile_of(name)
