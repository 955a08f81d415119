"""Imports a module from a folder outside; what it says is printed by the module. argv: the folder, the module."""
import importlib
import sys

print("started", flush=True)
sys.path.insert(0, sys.argv[1])
try:
    importlib.import_module(sys.argv[2])
except ImportError as e:
    print(e)
