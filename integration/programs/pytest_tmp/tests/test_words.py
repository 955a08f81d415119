import pytest


def count(path):
    return len(path.read_text().split())


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("one two three")
    return path


def test_count(book):
    assert count(book) == 3


def test_numbered(tmp_path):
    (tmp_path / "sub").mkdir()
    assert [p.name for p in tmp_path.iterdir()] == ["sub"]
