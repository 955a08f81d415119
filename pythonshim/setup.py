"""What pyproject.toml cannot say: the .pth file goes beside the packages, and a build leaves nothing in the checkout."""

import atexit
import os
import shutil
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

try:
    from setuptools.command.build import build
except ImportError:  # before 62.4
    from distutils.command.build import build

# pip builds in the very folder that it is given. What is made on the way goes elsewhere, and goes away.
scratch = tempfile.mkdtemp(prefix="psb-build-")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)


class build_elsewhere(build):
    def initialize_options(self):
        super().initialize_options()
        self.build_base = scratch


class info_elsewhere(egg_info):
    def initialize_options(self):
        super().initialize_options()
        self.egg_base = scratch


class build_with_path(build_py):
    def run(self):
        super().run()
        self.copy_file("psb_sandbox.pth", os.path.join(self.build_lib, "psb_sandbox.pth"), preserve_mode=0)

    def get_outputs(self, include_bytecode=True):
        return [*super().get_outputs(include_bytecode), os.path.join(self.build_lib, "psb_sandbox.pth")]


setup(cmdclass={"build": build_elsewhere, "build_py": build_with_path, "egg_info": info_elsewhere})
