"""Does a bit of everything, and prints what it sees of it. Without psb all of it is real."""
import os
import shutil
import socket
import sqlite3
import subprocess

home = os.environ["HOME"]


def write(path, text, mode="w"):
    with open(path, mode) as f:
        f.write(text)


def read(path):
    with open(path) as f:
        return f.read()


write("data.txt", "more\n", "a")
write("fresh.txt", "fresh\n")
os.remove("old.txt")
os.rename("here.txt", "there.txt")
write("draft", "other\n")
os.replace("draft", "replaced.txt")
os.chmod("mode.txt", 0o600)
os.makedirs("made/deep")
write("made/deep/file", "deep\n")
os.symlink("/etc/passwd", "link")
shutil.rmtree("again")
os.mkdir("again")
write("again/new", "new\n")
with open("opened.txt", "r+"):
    pass  # opened, never changed
for i in range(60):
    write("made/%d" % i, "x")
print(read("data.txt").split(), read("there.txt"), read("replaced.txt"), read("made/deep/file"), os.listdir("again"),
      os.path.exists("old.txt"), os.path.exists("here.txt"), oct(os.stat("mode.txt").st_mode)[-3:], flush=True)

db = sqlite3.connect("store.db")
db.execute("create table t (a)")
db.execute("insert into t values (1)")
db.commit()
print(db.execute("select a from t").fetchall(), flush=True)
db.close()

write(".git/hooks/pre-commit", "#!/bin/sh\n")
for words in (["add", "data.txt"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "change"], ["log", "--format=%s"]):
    subprocess.run(["git"] + words, check=True)

write(".py-sandboxes", "version = 1\n")
write(home + "/.bashrc", "evil\n", "a")
os.makedirs(home + "/.cache/thing")
write(home + "/.cache/thing/kept", "cached\n")
write("../sibling/planted.txt", "planted\n")
write("/var/tmp/" + os.environ["WORD"], "left\n")
try:
    print("key:", read(home + "/.ssh/id_rsa"), flush=True)
except OSError as e:
    print("key:", e.strerror, flush=True)
try:
    with socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))) as s:
        s.sendall(b"hello")
    print("connected", flush=True)
except OSError as e:
    print("connect:", e.strerror, flush=True)
raise SystemExit(3)
