"""Makes a chain of links, the last one to a folder outside, and reads through it. argv: the file, the first link."""
import os
import sys

print("started", flush=True)
target, link = sys.argv[1:]
os.symlink(os.path.basename(link) + ".two", link)
os.symlink(os.path.basename(link) + ".three", link + ".two")
os.symlink(os.path.dirname(os.path.abspath(target)), link + ".three")
print(open(os.path.join(link, os.path.basename(target))).read())
