from setuptools import setup
from Cython.Build import cythonize

setup(name="fast", ext_modules=cythonize("fast.pyx", language_level=3, quiet=True))
