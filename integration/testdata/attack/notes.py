"""Forges notes of Python's own layer. argv: how many, which, and a folder with 1500 files for errors."""
import os
import sys

print("started", flush=True)
many, kind, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
note = {"error": '{"e":"error","a":["PermissionError","13","FOLDER/forged-%d",""]}\n', "env": '{"e":"env","a":["FORGED_%d","unset"]}\n',
        "set": '{"e":"env","a":["SET_%d","set"]}\n', "resolve": '{"e":"resolve","a":["forged-%d.example","443"]}\n',
        "import": '{"e":"import","a":["forged%d","notes"],"at":"notes.py:1","f":"f%d"}\n'}[kind].replace("FOLDER", folder)
for i in range(many):
    try:
        os.write(-0x505342, note.replace("%d", str(i % 1500 if kind == "error" else i)).encode())
    except OSError:
        pass
