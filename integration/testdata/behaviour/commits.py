# Works with git as a build tool does.
import subprocess
import sys

for line in sys.argv[1:]:
    r = subprocess.run(["git"] + line.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    print(line.split()[0], r.returncode, r.stdout.strip())
