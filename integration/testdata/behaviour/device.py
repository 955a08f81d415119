# Opens device nodes and says what they are; then what of /dev there is.
import os
import stat
import sys

for path in sys.argv[2:]:
    try:
        fd = os.open(path, os.O_RDWR)
        info = os.fstat(fd)
        print(path, stat.S_ISCHR(info.st_mode), os.major(info.st_rdev), os.minor(info.st_rdev), os.read(fd, 4), os.write(fd, b"x"))
    except OSError as e:
        print(path, e.strerror)
print([n for n in sorted(os.listdir("/dev")) if sys.argv[1] in n])
