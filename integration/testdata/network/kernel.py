"""What a notebook server does, outside: starts a kernel, runs cells, interrupts one that sleeps. argv: the kernel's command line."""
import subprocess
import sys

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

first = 45001
ports = {name + "_port": first + n for n, name in enumerate(("shell", "iopub", "stdin", "control", "hb"))}
km = KernelManager(connection_file="run/kernel.json", cache_ports=False, ip="127.0.0.1", **ports)
km._kernel_spec = KernelSpec(argv=sys.argv[1:], display_name="a kernel", language="python")
km.start_kernel(stdout=subprocess.DEVNULL)
kc = km.blocking_client()
kc.start_channels()
kc.wait_for_ready(timeout=90)


def run(cell, said=lambda text: None):
    asked = kc.execute(cell, stop_on_error=False)
    text = ""
    while True:
        m = kc.get_iopub_msg(timeout=60)
        if m["parent_header"].get("msg_id") != asked:
            continue
        if m["msg_type"] == "stream":
            text += m["content"]["text"]
            said(text)
        if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
            break
    m = kc.get_shell_msg(timeout=60)
    while m["parent_header"].get("msg_id") != asked:
        m = kc.get_shell_msg(timeout=60)
    reply = m["content"]
    print(repr(text), reply["status"], reply.get("ename", ""))


asleep = []


def interrupt(text):
    if "sleeping" in text and not asleep:
        asleep.append(True)
        km.interrupt_kernel()


run("print(6 * 7)")
run("import time; print('sleeping', flush=True); time.sleep(600)", interrupt)
run("print('still here')")
run("open(%r).read()" % "/etc/passwd.not-there")
run("import socket; s = socket.socket(); s.connect(('203.0.113.6', 9090)); s.sendall(b'kernel\\n')")
kc.stop_channels()
km.shutdown_kernel()
print("alive:", km.is_alive())
