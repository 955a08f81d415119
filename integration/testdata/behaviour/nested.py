# Tries every act on every place below t/, whatever the box lets it see, and takes back what it did.
import errno
import os

FILES = ["f", "a/f", "a/g", "a/b/f", "a/b/c/f", "d/f"]
FOLDERS = [".", "a", "a/b", "a/b/c", "d"]


def read(name):
    with open(name) as f:
        f.read()


def write(name):
    with open(name, "r+") as f:
        f.write("#")


def run(name):
    try:
        os.execv(name, [name])
    except FileNotFoundError:
        os.stat(name)  # it is there: what is not is its interpreter, for which the kernel has looked


def names(name):
    return ",".join(sorted(os.listdir(name)))


def create(name):
    new = os.path.join(name, "new")
    with open(new, "x") as f:
        f.write("x")
    os.unlink(new)


def remove(name):
    os.unlink(name)


def tell(word, act, name):
    path = os.path.normpath(os.path.join("t", name))
    try:
        how = ("ok %s" % (act(path) or "")).strip()
    except OSError as e:
        how = errno.errorcode[e.errno]
    print(word, path, how)


for word, act, places in [
    ("read", read, FILES),
    ("write", write, FILES),
    ("exec", run, FILES),
    ("list", names, FOLDERS),
    ("create", create, FOLDERS),
    ("remove", remove, FILES),
]:
    for place in places:
        tell(word, act, place)
