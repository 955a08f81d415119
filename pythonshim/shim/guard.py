# What the policy says of Python, and how its word is given: enforcing refuses, learning notes what a rule would have to allow.
# One judgement for both, so that what was learned is what is asked for.
from common import *  # psb: cut
ENFORCE = True  # psb: cut

RULES = {"import": {}, "call": {}, "eval": {}, "program": ""}


def rules() -> None:
    # Read by the system's own calls: io is not there yet. A box whose rules cannot be read grants nothing.
    try:
        fd = posix.open("RULES_PATH", posix.O_RDONLY)
    except OSError:
        return
    try:
        parts = []
        while True:
            part = posix.read(fd, 1 << 20)
            if not part:
                break
            parts.append(part)
    finally:
        posix.close(fd)
    RULES.update(sys.modules["marshal"].loads(b"".join(parts)))


rules()
