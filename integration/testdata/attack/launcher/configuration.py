"""Writes what psb itself would obey: the user's own configuration. argv: its folder, a word."""
import os
import sys

print("started", flush=True)
folder, word = sys.argv[1:]
for name in ("config.toml", "policy.toml", "user.py-sandboxes", "kept"):
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "a") as f:
            f.write(word)
    except OSError as e:
        print(e)
try:
    os.rename(folder, folder + ".away")
except OSError as e:
    print(e)
