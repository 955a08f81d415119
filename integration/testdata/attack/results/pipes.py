"""Plants pipes under the names that psb looks at before it starts and after it ended. argv: none."""
import os

print("started", flush=True)
os.makedirs("sub/.git/hooks", exist_ok=True)
for name in ("sub/.git/config", "sub/.git/HEAD", "sub/.git/commondir", "sub/.py-sandboxes", "pyvenv.cfg", ".python-version", "sub/.git/hooks/post-checkout"):
    try:
        os.mkfifo(name)
    except OSError as e:
        print(name, e.strerror)
