# A context of the text's own that says: all is well.
#: exec classes i max_iterations|timeout
class Keep:
    def __enter__(self):
        return self
    def __exit__(self, *a):
        return True
while True:
    with Keep():
        try:
            while True:
                pass
        except BaseException:
            pass
        finally:
            for _ in iter(int, 1):
                pass
