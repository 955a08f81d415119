"""Lets a child look, started in four ways. argv: a program that prints its environment."""
import os
import subprocess
import sys

print("started", flush=True)
program = sys.argv[1]
subprocess.run([program])
subprocess.run([program], env=None, close_fds=False)
os.waitpid(os.posix_spawn(program, [program], os.environ), 0)
pid = os.fork()
if pid == 0:
    os.execv(program, [program])
os.waitpid(pid, 0)
