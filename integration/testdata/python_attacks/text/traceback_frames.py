# Every caught exception carries its frames.
#: exec wide spss magic|attribute
try:
    1 / 0
except ZeroDivisionError as e:
    f = e.__traceback__.tb_frame
    while f.f_back:
        f = f.f_back
    print("reached", sorted(f.f_globals)[:3])
#--
try:
    1 / 0
except ZeroDivisionError as e:
    print("reached", getattr(e, "__trace" + "back__"))
#--
try:
    1 / 0
except ZeroDivisionError as e:
    print("reached", e.with_traceback(None))
#--
try:
    1 / 0
except ZeroDivisionError as e:
    print("reached", e.__context__, e.__cause__)
