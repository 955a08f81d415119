import os

# What adding a submodule does to a repository.
try:
    for d in (".git/modules/lib/hooks", ".git/modules/lib/objects", "lib"):
        os.makedirs(d)
    for name in ("HEAD", "config", "hooks/post-checkout"):
        open(".git/modules/lib/" + name, "w").close()
    with open("lib/.git", "w") as f:
        f.write("gitdir: ../.git/modules/lib\n")
    print("added")
except OSError:
    print("refused")
