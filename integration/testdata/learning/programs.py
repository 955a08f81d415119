import subprocess, threading

t = threading.Thread(target=lambda: subprocess.run("printf x | sed s/x/y/ && git --version", shell=True))
t.start()
t.join()
try:
    subprocess.run(["psb-no-such-program"])
except OSError as e:
    print(e.strerror)
