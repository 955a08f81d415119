"""The examples of docs/eval.md do what the page says."""

import doctest
import os
import re
import unittest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "eval.md")


class Page(unittest.TestCase):
    def test_examples(self):
        with open(PAGE, encoding="utf-8") as f:
            text = f.read()
        blocks = re.findall(r"```pycon\n(.*?)```", text, re.S)
        self.assertGreater(len(blocks), 10)
        space = {}
        for block in blocks:
            # The first line of a traceback stands for all of it; doctest compares the last part, which here has several lines.
            test = doctest.DocTestParser().get_doctest(block, space, "docs/eval.md", PAGE, 0)
            out = []
            runner = doctest.DocTestRunner(checker=_Lines(), optionflags=doctest.ELLIPSIS)
            runner.run(test, out=out.append, clear_globs=False)
            space = test.globs
            self.assertEqual(runner.failures, 0, "".join(out))

    def test_every_key_is_told(self):
        from psb.evals.rules import _ALL

        with open(PAGE, encoding="utf-8") as f:
            heads = " ".join(re.findall(r"^### (.*)$", f.read(), re.M))
        for key in _ALL:
            self.assertIn(key, heads.split())


class _Lines(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return super().check_output(want.rstrip(), got.rstrip(), optionflags)


if __name__ == "__main__":
    unittest.main()
