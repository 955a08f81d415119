# The evaluation's state is of one thread.
#: exec wide s magic
import string, concurrent.futures
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    print("reached", pool.submit(string.Formatter().format, "{0.__cl" + "ass__}", 1).result())
