# A child that is the same Python has the layer again, whatever its flags and its environment.
#| [python.import]
#| "subprocess" = true
#| [python.call]
#| "subprocess.Popen" = true
#: isolated RuleApiPermissionError call os.system
#: environment RuleApiPermissionError call os.system
#: optimised RuleApiPermissionError call os.system
#: unbuffered RuleModuleNotFoundError import ctypes
import subprocess
import sys
from tries import attempt, cat

code = """
try:
    {0}
except BaseException as e:
    print("refused", "{1}", type(e).__name__, flush=True)
else:
    print("reached", "{1}", flush=True)
"""


def run(name, act, *flags, **more):
    subprocess.run([sys.executable, *flags, "-c", code.format(act, name)], **more)


system = "import os; os.system(%r)" % cat
run("isolated", system, "-I", "-S")
run("environment", system, "-E", env={})
run("optimised", system, "-OO", "-B")
run("unbuffered", "import ctypes", "-u", "-X", "dev")
