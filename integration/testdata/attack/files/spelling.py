"""Spells the path in other ways, for a check that compares texts. argv: the file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
folder, name = os.path.split(path)
for way in ("/" + path, folder + "//" + name, folder + "/./" + name, folder + "/../" + os.path.basename(folder) + "/" + name,
            "/proc/../" + path, path.upper(), path.replace("sibling", "Sibling"), path + "/."):
    try:
        print(open(way).read())
    except OSError as e:
        print(way, e.strerror)
