# What looks into running code.
#= inside
#: _getframe RuleApiPermissionError call sys._getframe
#: settrace RuleApiPermissionError call sys.settrace
#: setprofile RuleApiPermissionError call sys.setprofile
#: addaudithook RuleApiPermissionError call sys.addaudithook
#: get_objects RuleApiPermissionError call gc.get_objects
#: get_referrers RuleApiPermissionError call gc.get_referrers
#: currentframe RuleApiPermissionError call inspect.currentframe
#: _current_frames RuleApiPermissionError call sys._current_frames
import gc
import inspect
import sys
from tries import attempt

attempt("_getframe", lambda: sys._getframe(0))
attempt("settrace", lambda: sys.settrace(None))
attempt("setprofile", lambda: sys.setprofile(None))
attempt("addaudithook", lambda: sys.addaudithook(lambda *a: None))
attempt("get_objects", lambda: gc.get_objects())
attempt("get_referrers", lambda: gc.get_referrers(gc))
attempt("currentframe", lambda: inspect.currentframe())
attempt("_current_frames", lambda: sys._current_frames())
