# Moves and links files between folders.
import errno
import os
import sys


def what(call, *paths):
    try:
        call(*paths)
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]


a, b, r = "one/", "two/", "kept/"
os.makedirs(a + "d/new", exist_ok=True)
open(a + "f", "w").close()
os.rename(a + "f", a + "d/new/f")
os.link(a + "d/new/f", a + "f2")
os.replace(a + "f2", a + "d/f3")
os.rename(a + "d/new", a + "moved")
print("within", sorted(os.listdir(a)), sorted(os.listdir(a + "d")), sorted(os.listdir(a + "moved")))
open(a + "x", "w").close()
print("across", what(os.rename, a + "x", b + "x"), what(os.link, a + "d/f3", b + "f3"), what(os.replace, a + "d/f3", b + "f4"))
open(a + "y", "w").close()
if "kept" in sys.argv:
    print("read-only", what(os.rename, a + "y", r + "y"), what(os.rename, r + "there", a + "there"), what(os.link, r + "there", a + "there"))
import shutil

open(a + "z", "w").close()
shutil.move(a + "z", b + "z")
print("shutil", os.path.exists(b + "z"), os.path.exists(a + "z"))
