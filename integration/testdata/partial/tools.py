"""Functions of a module that is not the main one, and types that its caller knows."""

from __future__ import annotations

import dataclasses
import enum
import os
from typing import List

from psb import sandbox


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Row:
    name: str
    colour: Colour


@dataclasses.dataclass
class Table:
    rows: List[Row]


class Odd(Exception):
    def __init__(self, where: str, size: int) -> None:
        super().__init__(where)
        self.where, self.size = where, size


@sandbox
def table(names: List[str]) -> Table:
    return Table([Row(n, Colour.RED) for n in names])


@sandbox
def untold(name: str):
    return Row(name, Colour.RED)


@sandbox()
def taken(value: Table) -> str:
    return value.rows[0].colour.name


@sandbox
def odd(where: str) -> None:
    try:
        {}["key"]
    except KeyError as e:
        raise Odd(where, 3) from e


class Group:
    @staticmethod
    @sandbox
    def pid() -> int:
        return os.getpid()
