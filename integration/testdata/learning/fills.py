import sys

print(open("data/in.csv").read(), end="")
if sys.argv[1:] == ["fill"]:
    with open("fill", "wb", buffering=0) as f:  # at most 1 MiB, on a file system smaller than that
        try:
            for n in range(256):
                f.write(b"x" * 4096)
        except OSError as e:
            print(e.strerror)
        try:
            for n in range(4096):
                f.write(b"x")
        except OSError:
            pass
