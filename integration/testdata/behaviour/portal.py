# An in-process client: a loop in a thread of its own, driven from this one.
from anyio.from_thread import start_blocking_portal

with start_blocking_portal() as portal:
    print("PORTAL", portal.call(len, "abcd"))
