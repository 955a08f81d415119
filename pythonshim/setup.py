"""What pyproject.toml cannot say: the .pth file goes beside the packages."""

import os

from setuptools import setup
from setuptools.command.build_py import build_py


class build(build_py):
    def run(self):
        super().run()
        self.copy_file("psb_sandbox.pth", os.path.join(self.build_lib, "psb_sandbox.pth"), preserve_mode=0)

    def get_outputs(self, include_bytecode=True):
        return [*super().get_outputs(include_bytecode), os.path.join(self.build_lib, "psb_sandbox.pth")]


setup(cmdclass={"build_py": build})
