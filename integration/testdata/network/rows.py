"""Asks a PostgreSQL server with psycopg2. argv: how to reach it, in libpq's words."""
import sys

import psycopg2

with psycopg2.connect(sys.argv[1]) as c, c.cursor() as rows:
    rows.execute("create temporary table t (n int, word text)")
    rows.executemany("insert into t values (%s, %s)", [(n, "w" * n) for n in range(500)])
    rows.execute("select count(*), sum(n), max(word) < 'x' from t")
    print(*rows.fetchone())
