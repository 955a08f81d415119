"""Opens what is hidden through a link that stands beside it, and through links of its own making. argv: the file, the link."""
import os
import sys

print("started", flush=True)
path = os.path.abspath(sys.argv[1])
for target, link in ((path, "/tmp/l%d" % os.getpid()), (os.path.dirname(path), "/tmp/d%d" % os.getpid())):
    try:
        os.symlink(target, link)
    except OSError as e:
        print(e)
for act in (lambda: print(open(sys.argv[2]).read()),
            lambda: print(open("/tmp/l%d" % os.getpid()).read()),
            lambda: print(open("/tmp/d%d/%s" % (os.getpid(), os.path.basename(path))).read())):
    try:
        act()
    except OSError as e:
        print(e)
for link in ("/tmp/l%d", "/tmp/d%d"):
    try:
        os.unlink(link % os.getpid())
    except OSError as e:
        print(e)
