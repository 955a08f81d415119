"""Meets names that a terminal would obey: files and folders made, read, listed, refused, put where git looks, run, imported. argv: the home."""
import os
import stat
import subprocess
import sys

print("started", flush=True)
home = sys.argv[1]
# An escape sequence, a C1 one as a character and as a byte, a word turned around, marks of direction, a line break with a lie, a bell, DEL.
words = [b"a\x1b[31m", b"b\xc2\x9b31m", b"c\x9b31m", "d\u202egnp".encode(), "e\u2066x\u2069".encode(), "f\u200f\u061c".encode(), b"g\npsb: wrote lies", b"h\rpsb: lies", b"i\x07", b"j\x7f",
         "k\u2028l".encode()]


def attempt(act, *args):
    try:
        act(*args)
    except OSError:
        pass


def write(path):
    with open(path, "wb") as f:
        f.write(b"x\n")


def read(path):
    with open(path, "rb") as f:
        f.read()


def run(path):
    with open(path, "w") as f:
        f.write("#!/bin/sh\n")
    os.chmod(path, stat.S_IRWXU)
    subprocess.run([path], stderr=subprocess.DEVNULL)


def listed(path):
    os.mkdir(path)
    write(os.path.join(path, b"one"))
    os.listdir(path)


def repository(path):
    os.makedirs(os.path.join(path, b".git", b"hooks"))
    write(os.path.join(path, b".git", b"config"))


for word in words:
    attempt(write, b"made " + word)
    attempt(read, b"made " + word)
    attempt(read, b"given/" + word)
    attempt(listed, b"folder " + word)
    attempt(repository, b"repository " + word)
    attempt(run, b"run " + word)
    attempt(read, os.fsencode(home) + b"/.ssh/" + word)
    attempt(write, os.fsencode(home) + b"/refused " + word)
    os.environ.get(os.fsdecode(b"NAME " + word))
    name = os.fsdecode(word)
    code = compile("import os\ndef f():\n    open('read-by-name', 'w').close()\nf()", name.encode("utf-8", "replace").decode("utf-8", "replace") + ".py", "exec")
    attempt(exec, code, {"__name__": name})
os.symlink(b"/etc/\x1b[31m", b"link \x1b[31m")
attempt(read, b"link \x1b[31m")
