"""Servers that share one port (SO_REUSEPORT), each with a word for its visitors. argv: the host, the port, the words."""
import errno
import socket
import sys
import threading


def serve(server, word):
    while True:
        visitor = server.accept()[0]
        visitor.sendall(word.encode() + b"\n")
        visitor.recv(1)  # it leaves first
        visitor.close()


print("started", flush=True)
for word in sys.argv[3:]:
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        s.bind((sys.argv[1], int(sys.argv[2])))
        s.listen(50)
        threading.Thread(target=serve, args=(s, word), daemon=True).start()
        print(word, "listens")
    except OSError as e:
        print(word, errno.errorcode[e.errno])
print("ready", flush=True)
sys.stdin.read()
