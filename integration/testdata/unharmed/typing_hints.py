from __future__ import annotations

import typing


@typing.runtime_checkable
class Sized(typing.Protocol):
    def size(self) -> int: ...


class Tree(typing.TypedDict, total=False):
    name: str
    children: typing.List[Tree]


class Node:
    parent: typing.Optional[Node]
    names: typing.Dict[str, "Node"]

    def size(self) -> int:
        return 1

    def find(self, name: str, *, deep: bool = True) -> typing.Union[Node, None]: ...


T = typing.TypeVar("T", bound=Node)
print(typing.get_type_hints(Node))
print(typing.get_type_hints(Node.find))
print(typing.get_type_hints(Tree))
print(isinstance(Node(), Sized), isinstance(3, Sized), typing.get_origin(typing.List[int]), typing.get_args(typing.Callable[[int], str]))
try:
    typing.get_type_hints(typing.cast(typing.Any, type("X", (), {"__annotations__": {"a": "Missing"}})))
except NameError as e:
    print(e)
