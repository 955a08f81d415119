"""Lets children that are not Python connect, with proxies in the environment and without. argv: a good host and its port, a bad one by name and by number."""
import os
import subprocess
import sys

print("started", flush=True)
good, port, *bad = sys.argv[1:]
bare = {k: v for k, v in os.environ.items() if not k.endswith("_proxy")}
for host in [good] + bad:
    for env in bare, dict(os.environ):
        place = host + ":" + port
        for words in ["curl", "-s", "-m", "5", "http://" + place + "/"], ["curl", "-s", "-m", "5", "--noproxy", "*", "http://" + place + "/"], \
                     ["bash", "-c", "exec 3<>/dev/tcp/%s/%s && echo bash >&3" % (host, port)]:
            r = subprocess.run(words, env=env, capture_output=True, text=True, timeout=20)
            print(words[0], place, r.returncode)
