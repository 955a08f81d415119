import io
import pdb
import sys


def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total


def outer():
    return inner(3) + 1


debugger = pdb.Pdb(stdin=io.StringIO("b inner\nc\nargs\nn\nn\np n, total\nw\nu\nl\ncl 1\nr\nc\n"), stdout=sys.stdout, nosigint=True, readrc=False)
print(debugger.runcall(outer))
debugger = pdb.Pdb(stdin=io.StringIO("s\nwhere\np x\nx = 5\np x + 1\nc\n"), stdout=sys.stdout, nosigint=True, readrc=False)
debugger.run("x = 1\ny = inner(x)\nprint(y)", {"inner": inner})
print(inner(4))
