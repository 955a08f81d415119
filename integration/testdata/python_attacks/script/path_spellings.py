# Other spellings of a path that no rule names.
#: link *
#: folder-link *
#: bytes *
#: up *
#: beneath *
#: cwd *
#: root *
#: descriptor *
#: slashes *
#: dots *
import os
from tries import attempt, canary, place

here = os.getcwd()
os.chdir("/tmp")
d = os.open("/tmp", os.O_RDONLY)
name = os.path.basename(canary)
folder = os.path.dirname(canary)
link, way = "psb-%d-link" % os.getpid(), "psb-%d-way" % os.getpid()
os.symlink(os.path.relpath(canary, "/tmp"), link)
os.symlink(folder, way)
up = "../" * 20 + canary.lstrip("/")


def read(path, **more):
    text = os.read(os.open(path, os.O_RDONLY, **more), 100)
    print(text)
    return 1 // (b"# " in text)


for label, path, more in (("link", link, {}), ("folder-link", way + "/" + name, {}), ("bytes", link.encode(), {}), ("up", up, {"dir_fd": d}), ("beneath", link, {"dir_fd": d}), ("cwd", "/proc/self/cwd/" + up, {}), ("root", "/proc/self/root" + canary, {}), ("descriptor", "/dev/fd/%d/%s" % (d, up), {}), ("slashes", "//" + canary.replace("/", "//").replace("//" + name, "/./" + name), {}), ("dots", folder + "/../" + os.path.basename(folder) + "/" + name, {})):
    attempt(label, lambda: read(path, **more))
os.remove(link)
os.remove(way)
