"""A child exchanges a folder with a link to a folder outside, while the parent opens a file in it. argv: the folder outside, the name, the folder."""
import ctypes
import os
import sys

print("started", flush=True)
outside, name, folder = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
os.mkdir(folder)
open(os.path.join(folder, name), "w").close()
os.symlink(outside, folder + ".link")

go, went = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(go[1])
    while os.read(go[0], 1):
        libc.renameat2(-100, folder.encode(), -100, (folder + ".link").encode(), 2)
        os.write(went[1], b"!")
    os._exit(0)
# The child is at most eight steps behind, so both of them meet in the middle of a step as often as they do not.
for n in range(800):
    os.write(go[1], b"!")
    if n > 8:
        os.read(went[0], 1)
    try:
        text = open(os.path.join(folder, name)).read()
        if "# " in text:
            print(text)
            break
    except OSError:
        pass
os.close(go[1])
os.wait()
