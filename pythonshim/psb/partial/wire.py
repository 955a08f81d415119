"""What the two halves say to each other: kinds of messages. A message's number is the call it belongs to; 0 is the box's start."""

from __future__ import annotations

# To the box.
HELLO = 1  # how to begin: a dict
CALL = 2  # (module, qualname), args, kwargs of a plain function
AWAIT = 3  # the same, of an async one
CANCEL = 4  # nobody waits for this call any more
BYE = 5  # end when what runs is done

# From the box.
READY = 16  # init_fn is through
OUT = 18  # [(1 or 2, text)]: what the call printed
RESULT = 19  # the value
RAISED = 20  # (exception, facts); see denials

OUT_SIZE = 1 << 17  # bytes of one OUT message
OUT_LEAST = 24  # ... of one with an empty text, the shortest: a list of one pair
OUT_COST = 256  # bytes that an OUT message costs in memory beside its body
OUT_WAITING = 1 << 26  # bytes of one call's prints that its caller has not taken yet
