"""Spells what is hidden in other ways. argv: the file."""
import os
import sys

print("started", flush=True)
folder, name = os.path.split(sys.argv[1])
ways = ("./%s//%s", "%s/./%s", "%s/../"+ folder + "/%s", "kept/../%s/%s", "//proc/self/cwd/%s/%s")
for way in [w % (folder, name) for w in ways] + [sys.argv[1].upper(), sys.argv[1] + "/."]:
    try:
        print(open(way).read())
    except OSError as e:
        print(way, e.strerror)
