"""Tells which functions of this interpreter's standard library name eval, exec or compile: MODULE.FUNCTION BUILT-IN, one a line."""
import dis
import os
import types

LIBRARY = os.path.dirname(os.__file__)


def walk(code, module):
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in ("eval", "exec", "compile"):
            print(module + "." + code.co_name, step.argval)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            walk(c, module)


for folder, folders, files in os.walk(LIBRARY):
    folders[:] = sorted(f for f in folders if f not in ("test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"))
    for file in files:
        if file.endswith(".py"):
            path = os.path.join(folder, file)
            name = path[len(LIBRARY) + 1 : -3].replace("/", ".")
            with open(path, "rb") as f:
                try:
                    code = compile(f.read(), path, "exec", dont_inherit=True)
                except SyntaxError:  # samples that are none of this version
                    continue
            walk(code, name[:-9] if name.endswith(".__init__") else name)
