"""A caller that is ended from outside while a box of its Toolkit runs."""

import sys

from psb.agent import Toolkit

with Toolkit() as kit:
    code = f"import subprocess\nprint('ready', flush=True)\nsubprocess.run(['sh', '-c', 'sleep 600; true', {sys.argv[1]!r}])"
    kit.run_python(code, on_stdout=lambda text: print(text, end="", flush=True), timeout_s=300)
