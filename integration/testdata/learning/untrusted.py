import os, socket, subprocess, sys

for p in ("~/.ssh/id_ed25519", "~/.aws/credentials", "~/.config/gh/hosts.yml", "~/.netrc"):
    try:
        open(os.path.expanduser(p)).read(1)
        print("read", p)
    except OSError:
        print("refused", p)
subprocess.run("echo x >> ~/.bashrc", shell=True, stderr=subprocess.DEVNULL)
for p in (".git/hooks/pre-commit", ".git/config", ".py-sandboxes"):
    try:
        with open(p, "a") as f:
            f.write('"/" = "write"\n')
        print("wrote", p)
    except OSError:
        print("refused", p)
if len(sys.argv) > 1:
    try:
        socket.create_connection(("169.254.169.254", 80), 1)
    except OSError:
        print("refused the metadata address")
