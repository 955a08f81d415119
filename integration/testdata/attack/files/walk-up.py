"""Lists every folder above its own, and all below them. argv: none."""
import os

print("started", flush=True)
here = os.getcwd()
while here != "/":
    here = os.path.dirname(here)
    for above, folders, files in os.walk(here):
        print(above, folders, files)
        if above.count("/") > here.count("/") + 2:
            folders.clear()
    if here.count("/") < 5:
        break
