"""Text before it is parsed: Python's parser and compiler overflow the C stack on what is nested or chained too deeply."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from typing import Any

from psb.errors import EvalSyntaxRejected, Violation

SHORT = 1_500  # characters: text of that length cannot overflow anything
LONGEST = 1_000_000  # characters
BRACKETS = 90  # Python's own tokenizer takes 200, its parser fewer
CHAIN = 2_500  # operators in one statement, or "elif" in all

_QUOTED = r"""(?:"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_STRING = re.compile(r"#[^\n]*|(?:[bBuU]?[rR]?|[rR][bB])" + _QUOTED, re.S)
_STRINGS = re.compile(r"#[^\n]*|(?:[bBuUfF]?[rR]?|[rR][bBfF])" + _QUOTED, re.S)
_PLAIN = re.compile(r"[^fF\"']*[\"']|#")
_FORMATTED = re.compile(r"""(?:[fFtT][rR]?|[rR][fFtT])["']""")
_BRACKET = re.compile(r"[(){}\[\]]")
_NESTS = re.compile(r"[-+*/%@&|^~<>!({\[]|\.(?!\d)|\b(?:lambda|not|if|else|and|or|in|is|await|for|yield|async)\b")
_ELIF = re.compile(r"\belif\b")


def decode(source: Any) -> str:
    """The text of what eval, exec and compile take as source; TypeError as theirs."""
    if isinstance(source, str):
        return str.__str__(source)
    if isinstance(source, memoryview):
        source = source.tobytes()
    if not isinstance(source, (bytes, bytearray)):
        raise TypeError("source must be a string, bytes or AST object")
    data = bytes(source)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


def limit(text: str, fix: str, nodes: int = LONGEST, more: str = "") -> None:
    """EvalSyntaxRejected where the parser could overflow on text, or would make many more than so many nodes of it. Errs on the side of refusing."""
    if len(text) <= SHORT:
        return
    if len(text) > LONGEST:
        raise reject(f"the text has {len(text)} characters, more than {LONGEST}", "")
    bare = _code(text)
    if len(_ELIF.findall(bare)) > CHAIN:
        raise reject(f"more than {CHAIN} elif", "")
    if bare.count(",") + len(_NESTS.findall(bare)) + sum(1 for line in bare.split("\n") if line.strip()) > 4 * nodes:
        raise reject(f"many more than {nodes} nodes", more)
    depth = chain = 0
    joined = False
    for line in bare.split("\n"):
        for part in line.split(";"):
            if depth == 0 and not joined:
                chain = 0
            joined = False
            chain += len(_NESTS.findall(part))
            if chain > CHAIN:
                raise reject(f"more than {CHAIN} operators in one statement", fix)
            for c in _BRACKET.findall(part):
                depth = max(0, depth + (1 if c in "([{" else -1))
                if depth > BRACKETS:
                    raise reject(f"brackets inside {BRACKETS} others", fix)
        joined = line.endswith("\\")


def _code(text: str) -> str:
    """text without strings and comments, what stands in fields of formatted strings kept."""
    if not _FORMATTED.search(text):
        return _STRING.sub(" s ", text)
    if sys.version_info >= (3, 12):
        out = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.NEWLINE:
                    out.append("\n")
                elif token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
                    out.append(token.string)
        except tokenize.TokenError as e:
            raise SyntaxError(str(e.args[0])) from None  # the parser might overflow before it comes to that place
        return " ".join(out)
    # Before 3.12 a formatted string is one token, whose fields are parsed on their own.
    return _STRINGS.sub(lambda m: " s " if _PLAIN.match(m[0]) else re.sub(r"[\s(){}\[\];'\"]+", " ", m[0]), text)


def reject(what: str, fix: str) -> EvalSyntaxRejected:
    """The refusal of text for a limit."""
    error = EvalSyntaxRejected(f"psb: evaluated text refused: {what}")
    error.violations = (Violation(1, 0, what, "", fix),)
    error.hint = fix
    return error


def parse(text: str, filename: str, mode: str, flags: int, fix: str, nodes: int = LONGEST, more: str = "") -> ast.AST:
    """The tree of text; SyntaxError as Python's own, EvalSyntaxRejected where the parser gives up on the nesting."""
    limit(text, fix, nodes, more)
    if mode == "eval":
        text = text.lstrip(" \t")
    try:
        tree = compile(text, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    except (RecursionError, MemoryError):
        raise reject("nested too deeply for Python's parser", fix) from None
    assert isinstance(tree, ast.AST)
    return tree
