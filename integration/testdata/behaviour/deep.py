# A manager listens on a socket below TMPDIR; however long the working folder's name is, that one must stay below 108 bytes.
import multiprocessing
import os
import socket
import tempfile

if __name__ == "__main__":
    print("LONG", multiprocessing.Manager().list([1])[0], len(os.getcwd()) > 300, len(tempfile.gettempdir()) < 40)
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind(os.getcwd() + "/socket")
    except OSError as e:
        print("too long as anywhere:", e)
    os.chdir(tempfile.mkdtemp())
    s.bind("socket")
    s.listen()
    c = socket.socket(socket.AF_UNIX)
    c.connect("./socket")
    print("short", c.getpeername())
