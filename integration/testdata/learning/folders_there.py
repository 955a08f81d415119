import os

home = os.path.expanduser("~")
for d in ("/", "/tmp", "/usr", home, os.path.dirname(home), "..", "../sibling", "logs", "data/deep", home + "/.ssh"):
    try:
        os.makedirs(d, exist_ok=True)
    except OSError as e:
        print(d, e.strerror)
try:
    os.mkdir("../new")
    os.rmdir("../new")
except OSError as e:
    print("new", e.strerror)
