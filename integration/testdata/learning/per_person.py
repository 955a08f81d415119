import os, sys, tempfile

if "without" not in sys.argv:
    print(open(os.path.expanduser("~/settings.ini")).read(), end="")
print(open(os.path.abspath("data/in.csv")).read(), end="")
with open("data.txt", "w") as f:
    f.write("x")
os.path.exists(f"/run/user/{os.getuid()}/bus")
cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "demo")
os.makedirs(cache, exist_ok=True)
open(cache + "/state", "w").write("1")
open(os.path.join(tempfile.mkdtemp(), "x"), "w").close()
