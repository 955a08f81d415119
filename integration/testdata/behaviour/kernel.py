# Starts a notebook kernel and is its client, over the loopback of wherever it runs.
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(startup_timeout=50)
try:
    said = []
    client.execute_interactive("x = 6 * 7\nprint(x)", timeout=50, output_hook=lambda m: said.append(m["content"].get("text")))
    print("KERNEL", [t for t in said if t])
    try:
        print("OUTSIDE", client.execute_interactive("open('../sibling/kept')", timeout=50, output_hook=lambda m: None)["content"]["ename"])
    except KeyError:
        print("OUTSIDE it was read")
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
