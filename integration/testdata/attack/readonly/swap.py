"""A child exchanges a folder it may write with a link to one it may only read, while the parent writes there. argv: the folder that may be read, the one that may be written."""
import ctypes
import os
import sys

print("started", flush=True)
there, out = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
way = out + "/way"
os.mkdir(way)
os.symlink(os.path.abspath(there), way + ".link")

go, went = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(go[1])
    while os.read(go[0], 1):
        libc.renameat2(-100, way.encode(), -100, (way + ".link").encode(), 2)
        os.write(went[1], b"!")
    os._exit(0)
# The child is at most eight steps behind, so both of them meet in the middle of a step as often as they do not.
for n in range(800):
    os.write(go[1], b"!")
    if n > 8:
        os.read(went[0], 1)
    try:
        os.write(os.open(way + "/file", os.O_WRONLY | os.O_TRUNC), b"written from inside")
        break
    except OSError:
        pass
os.close(go[1])
os.wait()
