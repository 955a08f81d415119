import os, sys

print(open("current/c").read() + open("alias").read(), end="")
if len(sys.argv) > 1:
    os.symlink("rel1", "tmpl")
    os.unlink("tmpl")
    open("out.txt", "w").write("x")
