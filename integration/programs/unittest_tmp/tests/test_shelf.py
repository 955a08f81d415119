import os
import shutil
import tempfile
import unittest

import shelf


class Shelf(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def test_store(self):
        path = shelf.store(self.folder, "a", "text")
        with open(path) as f:
            self.assertEqual(f.read(), "text")

    def test_replaces(self):
        shelf.store(self.folder, "a", "old")
        shelf.store(self.folder, "a", "new")
        self.assertEqual(os.listdir(self.folder), ["a"])

    def test_named_file(self):
        with tempfile.NamedTemporaryFile() as f:
            self.assertTrue(os.path.exists(f.name))
        self.assertFalse(os.path.exists(f.name))
