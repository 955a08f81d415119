import sqlite3

db = sqlite3.connect("ledger.db")
db.execute("drop table if exists entry")
db.execute("create table entry (name text primary key, amount integer)")
with db:
    db.executemany("insert into entry values (?, ?)", [("rent", -900), ("salary", 2500), ("food", -310)])
try:
    with db:
        db.execute("insert into entry values ('tax', -100)")
        db.execute("insert into entry values ('rent', -1)")
except sqlite3.IntegrityError as e:
    print("rolled back:", e)
for row in db.execute("select name, amount from entry order by name"):
    print(*row)
db.close()
