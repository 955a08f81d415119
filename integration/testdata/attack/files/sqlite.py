"""Lets a library in C make a database outside, and add one to a connection. argv: the database, another."""
import sqlite3
import sys

print("started", flush=True)
for act in (lambda: sqlite3.connect(sys.argv[1]).executescript("create table t (x); insert into t values (1);"),
            lambda: sqlite3.connect(":memory:").executescript("attach '%s' as o; create table o.t (x);" % sys.argv[2])):
    try:
        act()
    except sqlite3.Error as e:
        print(e)
