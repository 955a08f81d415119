# status: 1
# learning: other tracebacks
import threading


def divide():
    return 1 / 0


t = threading.Thread(target=lambda: eval("divide()"), name="T")
t.start()
t.join()


def main():
    try:
        exec("x = {}['a']")
    except KeyError:
        eval("divide() + 1")


main()
