# sitecustomize.py for hosts without a mount namespace: the user's own sitecustomize still runs, and is the one in sys.modules.
_finder = sys.modules["_frozen_importlib_external"].PathFinder
_make = sys.modules["_frozen_importlib"].module_from_spec
_here = __file__.rpartition("/")[0]
sys.path[:] = [p for p in sys.path if p != _here]
_spec = _finder.find_spec("sitecustomize", sys.path)
if _spec is None or _spec.loader is None:
    raise ImportError("no module named 'sitecustomize'", name="sitecustomize")
sys.modules["sitecustomize"] = _make(_spec)
_spec.loader.exec_module(sys.modules["sitecustomize"])
