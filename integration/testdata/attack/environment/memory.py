"""Searches its own memory for what the kernel put on its stack. argv: none."""
import os

print("started", flush=True)
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        if "[stack]" in line:
            start, end = (int(x, 16) for x in line.split()[0].split("-"))
            memory.seek(start)
            print(memory.read(end - start).strip(b"\0"))
