# What every attack of this folder says: tries are named, told one by one, and looked at from outside.
import sys

print("started", flush=True)
canary, port, victim, place = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
cat = "/bin/cat '" + canary + "'"


def attempt(name, act):
    # A try is refused when it raises. What it gives back is of no interest but None and numbers: commands end with a status.
    try:
        got = act()
    except BaseException as e:
        print("refused", name, type(e).__name__, flush=True)
        return None
    print("reached", name, flush=True)
    return got
