# Libraries in C open files on their own.
#: sqlite *
#: attach *
#: certificates *
#: memory *
import dbm.dumb
import os
import sqlite3
import ssl
from tries import attempt, canary


def holds(error):
    # The text of the error tells whether the library had the bytes.
    def act():
        try:
            error()
        except Exception as e:
            if "not a database" in str(e) or "NO_CERTIFICATE" in str(e) or "PEM" in str(e):
                return None
            raise
    return act


attempt("sqlite", holds(lambda: sqlite3.connect(canary).execute("select 1 from sqlite_master")))
attempt("attach", holds(lambda: sqlite3.connect(":memory:").execute("attach '%s' as a" % canary).execute("select 1 from a.sqlite_master")))
attempt("certificates", holds(lambda: ssl.create_default_context(cafile=canary)))
attempt("memory", lambda: print(os.pread(os.open(canary, os.O_RDONLY), 100, 0)))
