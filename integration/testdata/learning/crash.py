import pathlib, sys, traceback

try:
    1 / int(sys.argv[1])
except ZeroDivisionError:
    pathlib.Path("crash.log").write_text(traceback.format_exc())
print("done")
