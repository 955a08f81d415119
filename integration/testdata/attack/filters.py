"""Puts a filter that allows everything in the place of each that psb kept. argv: the folder, the name of the machine, names of filters."""
import hashlib
import os
import struct
import sys

print("started", flush=True)
folder, machine = sys.argv[1:3]
allow = struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000)
try:
    os.makedirs(folder, exist_ok=True)
    for key in set(os.listdir(folder)) | set(sys.argv[3:]):
        digest = hashlib.sha256(("psb filter 1\n%s\n%s\n" % (key, machine)).encode() + allow).hexdigest()
        with open(os.path.join(folder, key), "wb") as f:
            f.write(("psb filter 1 %s %s %s\n" % (key, machine, digest)).encode() + allow)
except OSError as e:
    print(e.strerror)
