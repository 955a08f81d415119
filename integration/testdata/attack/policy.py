"""Rewrites the policy that binds it. argv: the policy file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
text = b'version = 1\n[files]\n"/" = "write"\n'


def overwrite(flags):
    os.write(os.open(path, flags), text)


def replace():
    with open(path + ".new", "wb") as f:
        f.write(text)
    os.replace(path + ".new", path)


def folder():
    here = os.path.dirname(path)
    os.rename(here, here + ".moved")


for act in (lambda: overwrite(os.O_WRONLY), lambda: overwrite(os.O_WRONLY | os.O_APPEND), lambda: os.truncate(path, 0), replace, lambda: os.unlink(path), folder):
    try:
        act()
    except OSError as e:
        print(e)
