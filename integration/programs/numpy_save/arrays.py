import numpy as np

squares = np.arange(10) ** 2
np.save("squares.npy", squares)
np.savez("both.npz", squares=squares, cubes=np.arange(10) ** 3)
print(np.load("squares.npy").sum(), np.load("both.npz")["cubes"].sum())
print(np.linalg.det(np.array([[2.0, 1.0], [1.0, 3.0]])).round(6))
