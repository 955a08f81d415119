import os

for p in ("~/.ssh/psb-test", "~/.aws/psb-test", "~/psb-test", "~/.config/psb-demo/new.ini"):
    try:
        os.makedirs(os.path.dirname(os.path.expanduser(p)), exist_ok=True)
        open(os.path.expanduser(p), "w").close()
        os.unlink(os.path.expanduser(p))
        print(p)
    except OSError as e:
        print(p, "refused")
