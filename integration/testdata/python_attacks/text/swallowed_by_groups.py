# An exception group takes parts away.
#: exec bounded i max_iterations|timeout 3.11
while True:
    try:
        while True:
            pass
    except* Exception:
        pass
    except* BaseException:
        pass
