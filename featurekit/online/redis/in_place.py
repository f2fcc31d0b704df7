"""Rows that are written in place: never an older one over a newer one, whoever comes late.

A run that was taken for dead can still have rows under way when the next refresh is written. The server compares the
as-ofs, which a row has in its bytes 8 to 15, in the same step in which it writes or deletes.
"""

from __future__ import annotations

from typing import Final

from featurekit.clock import Instant
from featurekit.online.redis.peer import Command

_SET: Final = b"""\
local old = redis.call('GETRANGE', KEYS[1], 8, 15)
if #old == 8 and struct.unpack('<i8', old) > struct.unpack('<i8', ARGV[1], 9) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1"""
_DELETE: Final = b"""\
local old = redis.call('GETRANGE', KEYS[1], 8, 15)
if #old == 8 and struct.unpack('<i8', old) < struct.unpack('<i8', ARGV[1]) then return redis.call('UNLINK', KEYS[1]) end
return 0"""

SET_IN_PLACE: Final = (b"*6\r\n$4\r\nEVAL\r\n$%d\r\n%b\r\n$1\r\n1\r\n" % (len(_SET), _SET), b"")
"""What stands before the key, and between the row and the seconds, of the command that sets a row in place."""


def delete_older(key: bytes, before: Instant) -> Command:
    """Return the command that deletes a row if its as-of lies before an instant, and answers how many it deleted."""
    return (b"EVAL", _DELETE, b"1", key, before.to_bytes(8, "little", signed=True))
