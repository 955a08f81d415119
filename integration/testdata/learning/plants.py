import os, sys

for n in range(16):
    os.symlink("bait", f"..py-sandboxes.{n:016x}.tmp")
os.symlink("bait", "..py-sandboxes.psb-new")
if sys.argv[1] == "link":
    os.symlink("bait", ".py-sandboxes")
elif sys.argv[1] == "folder":
    os.mkdir(".py-sandboxes")
elif sys.argv[1] == "pipe":
    os.mkfifo(".py-sandboxes")
open("data/in.csv").read()
