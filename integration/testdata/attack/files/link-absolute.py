"""Makes a link with an absolute path in a folder it may write, and reads through it. argv: the file, the link."""
import os
import sys

print("started", flush=True)
target, link = sys.argv[1:]
os.symlink(os.path.abspath(target), link)
print(open(link).read())
