import glob, os


def names(path):
    try:
        return len(os.listdir(path)) > 0
    except OSError as e:
        return e.strerror


print(names("/"), names("/etc"), names(os.path.expanduser("~")), names("data"))
os.stat("/var")
print(len(glob.glob("/etc/*.conf")) > 0, os.access("/", os.R_OK) and os.path.isdir("/"))
