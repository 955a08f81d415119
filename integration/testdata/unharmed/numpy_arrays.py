# needs: numpy
import io

import numpy as np

a = np.arange(12.0).reshape(3, 4)
print(a @ a.T, a[a > 4].mean(), np.linalg.det(np.eye(3)), np.einsum("ij->j", a))
print(np.vectorize(lambda x: x + 1)(a[0]), np.random.default_rng(1).integers(0, 9, 3), np.fft.fft([1, 0, 0]).real)
buffer = io.BytesIO()
np.savez(buffer, a=a)
buffer.seek(0)
print(np.load(buffer)["a"].sum(), np.genfromtxt(io.StringIO("1,2\n3,4"), delimiter=",").tolist())
kind = np.dtype([("n", "i4"), ("s", "U3")])
print(np.array([(1, "abc")], kind)["s"], np.frompyfunc(lambda x: x * 2, 1, 1)(np.arange(2)))
np.testing.assert_allclose(a, a)
for bad in (lambda: a @ a, lambda: np.testing.assert_array_equal(a, a + 1)):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, str(e).strip().splitlines()[0])
