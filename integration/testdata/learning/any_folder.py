import os

import helper

print(open("data/in.csv").read(), end="")
with open("out.txt", "w") as f:
    f.write("x")
os.makedirs("res", exist_ok=True)
with open(os.path.abspath("res/a"), "w") as f:
    f.write("1")
