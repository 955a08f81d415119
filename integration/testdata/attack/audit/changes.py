"""Changes all it is given, each in its own way, and makes new names. argv: five files, a folder with one file, then names to make."""
import os
import sys


def attempt(what, *args):
    try:
        what(*args)
    except OSError as e:
        print(what.__name__, args, e.strerror)


def write(path, mode):
    with open(path, mode) as f:
        f.write("written from inside\n")


def replace(path):
    write(path + ".new", "w")
    os.replace(path + ".new", path)


print("started", flush=True)
append, empty, mode, removed, replaced, folder = sys.argv[1:7]
attempt(write, append, "a")
attempt(os.truncate, empty, 0)
attempt(os.chmod, mode, 0o600)
attempt(os.utime, mode, (1, 1))
attempt(os.remove, removed)
attempt(replace, replaced)
for name in os.listdir(folder):
    attempt(os.rename, os.path.join(folder, name), os.path.join(folder, name + ".renamed"))
attempt(os.rename, folder, folder + ".moved")
for name in sys.argv[7:]:
    attempt(write, name, "w")
    attempt(os.symlink, "/etc/passwd", name + ".link")
    attempt(os.link, name, name + ".hard")
    attempt(os.mkdir, name + ".folder")
