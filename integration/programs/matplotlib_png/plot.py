import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.plot([1, 2, 3], [1, 4, 9], label="squares")
ax.set_title("a picture")
ax.legend()
fig.savefig("plot.png", metadata={"Software": None})
with open("plot.png", "rb") as f:
    print(f.read(8))
