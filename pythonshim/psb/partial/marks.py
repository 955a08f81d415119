"""Which calls the box entered: slots in a file in memory that the box writes and its caller reads, once the box is over.

A call is repeated after a crash only if it had not begun, and only the box can tell. As a message that word would wake the caller's reader for
every call, to be looked at after a crash alone."""

from __future__ import annotations

import os
import sys
from typing import Any

_SLOTS = 1 << 15  # calls in flight that are told apart; a file of 256 KiB, of which those pages exist that were written
_SIZE = 8
_NOEXEC_SEAL = 8  # MFD_NOEXEC_SEAL: nobody can make it a program
_HELLO = b"psb"  # the bytes that the descriptor travels with


class Marks:
    """The calling half."""

    def __init__(self) -> None:
        import fcntl

        try:
            self._fd = os.memfd_create("psb-begun", os.MFD_CLOEXEC | _NOEXEC_SEAL)
        except OSError:  # before Linux 6.3
            self._fd = os.memfd_create("psb-begun", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._fd, _SLOTS * _SIZE)
        # The box can neither make it bigger nor cut it off.
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)

    def hand_over(self, sock: Any) -> None:
        """The descriptor, ahead of the first message. OSError: nobody is there."""
        import socket

        sock.sendmsg([_HELLO], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, self._fd.to_bytes(4, sys.byteorder))])

    def has(self, number: int) -> bool:
        """Whether the box says that it entered the call. Where a later call took its slot the answer is yes: it is not repeated."""
        return int.from_bytes(os.pread(self._fd, _SIZE, number % _SLOTS * _SIZE), "little") >= number

    def close(self) -> None:
        """Once."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def taken(sock: Any) -> int:
    """In the box: the descriptor that came ahead of the first message. EOFError: the other end is gone."""
    from _socket import CMSG_SPACE, MSG_CMSG_CLOEXEC

    data, ancillary, _, _ = sock.recvmsg(len(_HELLO), CMSG_SPACE(4), MSG_CMSG_CLOEXEC)
    if data != _HELLO or len(ancillary) != 1:
        raise EOFError("psb: the other end closed the channel")
    return int.from_bytes(ancillary[0][2], sys.byteorder)


def mark(fd: int, number: int) -> None:
    """In the box: the call is entered now."""
    os.pwrite(fd, number.to_bytes(_SIZE, "little"), number % _SLOTS * _SIZE)
