# A private function of a harmless module starts a program that stands on PATH.
#: spawn - call subprocess.Popen
import os
import uuid
from tries import attempt, canary


def spawn():
    os.environ["PATH"] = os.path.dirname(os.path.abspath(__file__)) + "/tools:" + os.environ["PATH"]
    got = uuid._get_command_stdout("ifconfig") if hasattr(uuid, "_get_command_stdout") else uuid._popen("ifconfig").stdout
    print(*[line.decode() for line in got or [b"nothing"]])


attempt("spawn", spawn)
