# Asks in every way a program asks a person.
import getpass
import os
import sys
import termios
import tty

print("terminals", [os.isatty(n) for n in range(3)], os.get_terminal_size())
print("front", os.tcgetpgrp(0) == os.getpgrp())
name = input("name? ")
print("name is", name)
word = getpass.getpass("word? ")
print("word has", len(word))
with open("/dev/tty", "w") as t:
    t.write("straight to the terminal\n")
before = termios.tcgetattr(0)
try:
    tty.setcbreak(0)
    print("one key?", flush=True)
    print("key was", sys.stdin.read(1))
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, before)
print("restored", termios.tcgetattr(0) == before)
import readline  # from here on input() edits lines

print("edited", input("edit? "))
