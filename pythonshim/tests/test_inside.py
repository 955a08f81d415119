"""is_in_sandbox() says yes for a box alone: a yes makes @sandbox a plain call."""

from __future__ import annotations

import io
import os
import unittest
from types import SimpleNamespace
from unittest import mock

from psb.partial import inside


class Inside(unittest.TestCase):
    def boxed(self, flag: int, status: str) -> bool:
        with mock.patch.object(inside.os, "statvfs", return_value=SimpleNamespace(f_flag=flag)):
            with mock.patch("builtins.open", return_value=io.StringIO(status)):
                return inside._boxed()

    def test_a_folder_of_the_right_name_is_not_enough(self) -> None:
        whole = "Name:\tpython3\nGroups:\t\nNoNewPrivs:\t1\nSeccomp:\t2\n"
        self.assertTrue(self.boxed(os.ST_RDONLY, whole))
        self.assertFalse(self.boxed(0, whole))
        self.assertFalse(self.boxed(os.ST_RDONLY, whole.replace("NoNewPrivs:\t1", "NoNewPrivs:\t0")))
        self.assertFalse(self.boxed(os.ST_RDONLY, whole.replace("Seccomp:\t2", "Seccomp:\t0")))
        self.assertFalse(self.boxed(os.ST_RDONLY, ""))

    def test_outside_it_is_no(self) -> None:
        self.assertFalse(inside.is_in_sandbox())


if __name__ == "__main__":
    unittest.main()
