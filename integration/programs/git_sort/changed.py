import subprocess

done = subprocess.run("git status --porcelain | sort", shell=True, stdout=subprocess.PIPE, universal_newlines=True)
print(done.stdout, end="")
print("status", done.returncode)
