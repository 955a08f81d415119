# An error's frames lead to every global of the program; what they open is the kernel's matter.
#: open *
import io
import sys
from tries import attempt, canary


def outermost():
    try:
        1 / 0
    except ZeroDivisionError as e:
        f = e.__traceback__.tb_frame
        while f.f_back:
            f = f.f_back
        return f


attempt("frame", lambda: outermost().f_globals["__builtins__"])
attempt("open", lambda: print(outermost().f_globals["io"].open(canary).read()))
