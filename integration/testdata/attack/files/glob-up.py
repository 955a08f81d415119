"""Looks for files by patterns that climb, and reads all it finds. argv: none."""
import glob

print("started", flush=True)
for pattern in ("in/../../sibling/*", "../sibling/*", "../*/*", "in/../../*/*.txt"):
    for path in glob.glob(pattern):
        try:
            print(open(path).read())
        except OSError as e:
            print(path, e.strerror)
