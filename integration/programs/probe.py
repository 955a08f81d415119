"""Tries one thing, in every way it knows, on the files and the folder a policy says nothing of.

argv: what (read, change, rename, remove, list), a folder, names of files.
What it could read or list goes to stdout; everything else is seen by whoever looks at the files afterwards.
"""
import os
import sys


def attempt(act, *args):
    try:
        return act(*args)
    except Exception:
        return None


def show(path, flags=os.O_RDONLY):
    fd = os.open(path, flags)
    print("content of", path, os.read(fd, 4096))


def overwrite(path, flags):
    fd = os.open(path, flags)
    os.write(fd, b"changed\n")
    os.close(fd)


def replace(path):
    with open("probe.tmp", "w") as f:
        f.write("replaced\n")
    os.replace("probe.tmp", path)


what, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
here = os.getcwd()
for name in names:
    forms = [name, os.path.join(here, name), "/proc/self/cwd/" + name, "/proc/self/root" + os.path.join(here, name), "/proc/1/root" + os.path.join(here, name)]
    if what == "read":
        for form in forms:
            attempt(show, form)
            attempt(show, form, os.O_RDWR)
        attempt(os.symlink, name, "probe.link")
        attempt(show, "probe.link")
        attempt(os.link, name, "probe.hard")
        attempt(show, "probe.hard")
    elif what == "change":
        for form in forms:
            attempt(overwrite, form, os.O_WRONLY)
            attempt(overwrite, form, os.O_WRONLY | os.O_APPEND)
            attempt(overwrite, form, os.O_WRONLY | os.O_TRUNC)
            attempt(os.truncate, form, 0)
            attempt(os.chmod, form, 0o777)
        attempt(replace, name)
    elif what == "rename":
        attempt(os.rename, name, name + ".moved")
        attempt(os.rename, name, "moved")
        if "/" in name:
            attempt(os.rename, os.path.dirname(name), "moved-folder")
    elif what == "remove":
        attempt(os.unlink, name)
        if "/" in name:
            attempt(os.rmdir, os.path.dirname(name))
if what == "list":
    for form in (folder, os.path.join("..", os.path.basename(folder)), "/proc/self/root" + folder, "/proc/1/root" + folder):
        print(attempt(os.listdir, form))
        print(attempt(lambda: [e.name for e in os.scandir(form)]))
