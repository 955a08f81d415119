# Names that are awkward: link loops, dead links, bytes that are no text, line breaks, the longest name there is and one more.
import errno
import os

for name in (b"loop", b"dead", b"caf\xe9", b"two\nlines", b"n" * 255, b"n" * 256):
    try:
        with open(b"odd/" + name, "rb") as f:
            print(name[:12], len(name), f.read())
    except OSError as e:
        print(name[:12], len(name), errno.errorcode[e.errno])
print(sorted(os.listdir(b"odd"))[:3])
