import os


def store(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".part", "w") as f:
        f.write(text)
    os.replace(path + ".part", path)
    return path
