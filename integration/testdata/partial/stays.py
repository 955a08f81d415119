"""A caller that is ended from outside: prints the process in its box, and waits there in native code that takes no signal."""

from __future__ import annotations

import os
import re
import signal
import sys

from psb import sandbox, sandboxes

POLICY = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".py-sandboxes")


def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@sandbox
def stay(word):
    print("ready", flush=True)
    re.match("(a|aa)+$", "a" * 60 + "b")  # holds the interpreter for ever


if __name__ == "__main__":
    with sandboxes(deaf, policy=POLICY):
        stay(sys.argv[1])
