import datetime, os, sqlite3, tempfile, time, uuid

os.makedirs("work", exist_ok=True)
with tempfile.NamedTemporaryFile(dir="work") as f:
    f.write(b"x")
fd, name = tempfile.mkstemp(dir="work")
os.close(fd)
tempfile.mkdtemp(dir="work")
os.mkdir(f"work/{uuid.uuid4()}")
open(f"work/{datetime.date.today()}.log", "w").close()
open(f"work/{time.time_ns()}", "w").close()
with open("work/state.lock", "w"):
    os.unlink("work/state.lock")
with open("work/state.new", "w") as f:
    f.write("1")
os.rename("work/state.new", "work/state")
db = sqlite3.connect("work/base.db")
db.execute("create table if not exists t (x)")
db.execute("insert into t values (1)")
db.commit()
db.close()
import helper
os.open("work", os.O_TMPFILE | os.O_RDWR, 0o600)
