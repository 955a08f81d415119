"""guarded_eval: text evaluated under a profile, in a child that can be killed or, for hot loops, in this process."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from psb import evals
from psb.errors import EvalSyntaxRejected, RuleEvalPermissionError
from psb.evals.rules import Rules
from psb.evals.words import KEYS


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
    if rules is not None:
        return _run(src, mode, evals.parsed(rules, profile), names, in_process)
    judged = _active(profile) if evals._noted is None else _learning(src, profile, names, mode)
    try:
        return _run(src, mode, judged, names, in_process)
    except (EvalSyntaxRejected, RuleEvalPermissionError) as e:
        if evals._told is not None:
            evals._told(e, profile)
        elif evals._noted is not None and isinstance(e, RuleEvalPermissionError) and e.key in KEYS:
            evals._noted(profile, [(e.key, e.target)])
        raise


def _run(src: str, mode: str, judged: Rules, names: Optional[Mapping[str, Any]], in_process: bool) -> Any:
    if in_process:
        from psb.evals.run import here

        return here(src, mode, judged, names)
    from psb.evals.child import evaluate

    return evaluate(src, mode, judged, names)


def _active(name: str) -> Rules:
    if evals._profiles is None:
        raise ValueError("psb: no eval profile is active: run under psb with [python.eval] in the policy, or pass rules={...}")
    return evals.profile(name)


def _learning(src: str, name: str, names: Optional[Mapping[str, Any]], mode: str) -> Rules:
    """The profile with all that src needs and a profile can have, which is noted. What only a run shows is refused in this one."""
    from psb.evals.learn import constructs

    found = [c for c in constructs(src, mode, names) if c[0] in KEYS]
    assert evals._noted is not None
    evals._noted(name, found or [("syntax", "Constant")])
    wider = dict(evals.active().get(name, {}))
    for key, word in found:
        wider[key] = [*wider.get(key, ()), word]
    return Rules(wider, name)
