# status: 1
import importlib
import traceback

for name in ("nothing_here", "json.nothing", "json.decoder.nothing", "os.path.nothing", "", ".rel", "subprocess.nothing"):
    try:
        importlib.import_module(name)
    except Exception:
        traceback.print_exc()
try:
    from json import nothing
except ImportError:
    traceback.print_exc()
try:
    from subprocess import nothing
except ImportError:
    traceback.print_exc()
import there_is_no_such
