# needs: pytest
# status: 1
import contextlib
import io
import pathlib
import re
import sys

import pytest

pathlib.Path("test_words.py").write_text('''
import pytest

def double(x):
    return x * 2

@pytest.fixture
def two():
    yield 2

@pytest.mark.parametrize("n", [1, 2])
def test_double(two, n, monkeypatch, capsys):
    monkeypatch.setitem(globals(), "double", lambda x: x + x)
    print(n)
    assert capsys.readouterr().out == f"{n}\\n"
    assert double(two) == 4

def test_words():
    a, b = [1, 2, 3], {"k": (1, 2)}
    assert double(a[0]) in b["k"] and a == [1, 2, 4], f"first {a[0]}"

def test_raises():
    with pytest.raises(ZeroDivisionError, match="division"):
        1 / 0
''')
words = ["-q", "-p", "no:cacheprovider", "-o", "console_output_style=classic", "--color=no", "test_words.py"]
out = io.StringIO()
with contextlib.redirect_stdout(out):
    status = pytest.main(words)
print(re.sub(r"in [0-9.]+s", "in TIME", out.getvalue()))
sys.exit(status)
