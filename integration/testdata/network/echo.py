"""Answers datagrams until its input ends. argv: the address and port."""
import socket
import sys
import threading

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], int(sys.argv[2])))


def answer():
    while True:
        text, peer = s.recvfrom(1000)
        s.sendto(b"answer " + text, peer)


threading.Thread(target=answer, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
