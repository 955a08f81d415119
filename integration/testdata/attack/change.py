"""Changes what stands at each path by every means it has, or makes it where it is absent. argv: a word for the content, then the paths."""
import os
import sys

print("started", flush=True)
word = sys.argv[1] + "\n"


def write(path, how):
    with open(path, how) as f:
        f.write(word)


def append(path):
    write(path, "a")


def overwrite(path):
    write(path, "r+")


def replace(path):
    write(path + ".new", "w")
    os.replace(path + ".new", path)


def anew(path):
    os.unlink(path)
    write(path, "x")


def swap(path):
    above = os.path.dirname(path)
    os.rename(above, above + ".away")
    make(path)


def make(path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    write(path, "x")


for path in sys.argv[2:]:
    for act in (append, overwrite, replace, anew, swap) if os.path.lexists(path) else (make,):
        try:
            act(path)
            break
        except OSError as e:
            print(act.__name__, path, e.strerror)
