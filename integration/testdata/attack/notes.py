"""Forges notes of Python's own layer. argv: how many, and which: error, env, other."""
import os
import sys

print("started", flush=True)
many, kind = int(sys.argv[1]), sys.argv[2]
note = {"error": '{"e":"error","a":["PermissionError","13","/usr/share/forged-%d",""]}\n', "env": '{"e":"env","a":["FORGED_%d","unset"]}\n',
        "set": '{"e":"env","a":["SET_%d","set"]}\n', "resolve": '{"e":"resolve","a":["forged-%d.example","443"]}\n',
        "import": '{"e":"import","a":["forged%d","notes"],"at":"notes.py:1","f":"f%d"}\n'}[kind]
for i in range(many):
    try:
        os.write(-0x505342, (note.replace("%d", str(i))).encode())
    except OSError:
        pass
