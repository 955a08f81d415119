import datetime, os, sqlite3, tempfile, time, uuid

os.makedirs("jobs", exist_ok=True)
with tempfile.NamedTemporaryFile(dir="jobs") as f:
    f.write(b"x")
fd, name = tempfile.mkstemp(dir="jobs")
os.close(fd)
tempfile.mkdtemp(dir="jobs")
os.mkdir(f"jobs/{uuid.uuid4()}")
open(f"jobs/{datetime.date.today()}.log", "w").close()
open(f"jobs/{time.time_ns()}", "w").close()
with open("jobs/state.lock", "w"):
    os.unlink("jobs/state.lock")
with open("jobs/state.new", "w") as f:
    f.write("1")
os.rename("jobs/state.new", "jobs/state")
db = sqlite3.connect("jobs/base.db")
db.execute("create table if not exists t (x)")
db.execute("insert into t values (1)")
db.commit()
db.close()
import helper
os.open("jobs", os.O_TMPFILE | os.O_RDWR, 0o600)
