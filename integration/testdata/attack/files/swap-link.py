"""A child swaps a link between a file that may be read and one that may not, while the parent opens it. argv: the file, one that may be read, the link."""
import os
import sys

print("started", flush=True)
bad, good, link = sys.argv[1:]
os.symlink(good, link)

go, went = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(go[1])
    while os.read(go[0], 1):
        os.symlink(bad, link + ".new")
        os.replace(link + ".new", link)
        bad, good = good, bad
        os.write(went[1], b"!")
    os._exit(0)
# The child is at most eight steps behind, so both of them meet in the middle of a step as often as they do not.
for n in range(800):
    os.write(go[1], b"!")
    if n > 8:
        os.read(went[0], 1)
    try:
        text = open(link).read()
        if "# " in text:
            print(text)
            break
    except OSError:
        pass
os.close(go[1])
os.wait()
