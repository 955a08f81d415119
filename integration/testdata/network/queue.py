# A server of the program's own whose queue is full: who connects waits until the server takes somebody, as the kernel has it.
import socket
import threading
import time

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(0)
waiting = [socket.create_connection(server.getsockname())]
ends = []


def connect():
    s = socket.socket()
    try:
        s.connect(server.getsockname())
        s.sendall(b"x")
        ends.append("connected")
    except OSError as e:
        ends.append(str(e))


late = threading.Thread(target=connect)
print("started", flush=True)
late.start()
time.sleep(1.5)  # longer than psb lets one attempt take; too short a time can only hide a connect that ends by itself
print("before", ends)
first = server.accept()[0]
second = server.accept()[0]
print("served", second.recv(1))
late.join()
print("after", ends)
