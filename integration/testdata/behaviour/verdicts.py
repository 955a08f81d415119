# Tries each access of its arguments, "right path" by "right path", and prints which the kernel allowed. Each try leaves things as they were.
import errno
import os
import subprocess
import sys


def tries(right, path):
    if right == "read":
        os.close(os.open(path, os.O_RDONLY))
    elif right == "write":
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
    elif right == "create":
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.close(fd)
        os.unlink(path)
    elif right == "list":
        os.listdir(path)
    elif right == "exec":
        subprocess.run([path], check=True)


for right, path in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        tries(right, path)
        print("allowed", right, path)
    except OSError as e:
        print("refused", right, path, errno.errorcode[e.errno])
