import hashlib, os, time

base = os.path.expanduser("~/.cache/demo/v1/")
for i in range(6):
    h = hashlib.sha256(f"{time.time()}{i}".encode()).hexdigest()
    os.makedirs(base + h[:2], exist_ok=True)
    open(base + h[:2] + "/" + h, "w").close()
