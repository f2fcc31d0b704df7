"""How far texts are apart, how they sound, whether their digits check; and single characters as numbers."""

from __future__ import annotations

from typing import Final

from featurekit.targets.kernels.kernel import Factory, Inline, always

# Soundex codes of A to Z; 7 marks the letters that don't part two of one code.
_SOUNDEX: Final = "01230127022455012623017202"
_LAST_UNIT: Final = "\uffff"


def _levenshtein(left: str, right: str) -> int:
    """Return the edit distance, a row of the usual table in two integers: bits say where it rises and where it falls.

    (Myers 1999, in the form of Hyyrö 2001.)
    """
    if not left or not right:
        return len(left) + len(right)
    places: dict[str, int] = {}
    for place, letter in enumerate(left):
        places[letter] = places.get(letter, 0) | 1 << place
    last = 1 << (len(left) - 1)
    mask = (last << 1) - 1
    rises, falls, distance = mask, 0, len(left)
    for letter in right:
        same = places.get(letter, 0)
        level = (((same & rises) + rises) ^ rises) | same | falls
        up = falls | (~(level | rises) & mask)
        down = rises & level
        if up & last:
            distance += 1
        elif down & last:
            distance -= 1
        up = up << 1 | 1
        down <<= 1
        rises = (down | ~(level | up)) & mask
        falls = up & level & mask
    return distance


def _levenshtein_within(left: str, right: str, threshold: int) -> int:
    distance = _levenshtein(left, right)
    return distance if distance <= threshold else -1


def _soundex(value: str) -> str:
    first = value[:1].upper() if value[:1].isascii() else ""
    if not "A" <= first <= "Z":
        return value
    code = first
    last = _SOUNDEX[ord(first) - 65]
    for letter in value[1:]:
        upper = letter.upper() if letter.isascii() else ""
        if not "A" <= upper <= "Z":
            last = "0"
            continue
        digit = _SOUNDEX[ord(upper) - 65]
        if digit == "7":
            continue
        if digit not in ("0", last):
            code += digit
            if len(code) == 4:
                break
        last = digit
    return code.ljust(4, "0")


def _luhn_check(value: str) -> bool:
    total = 0
    for place, letter in enumerate(reversed(value)):
        if not letter.isdecimal() or letter > _LAST_UNIT:
            return False
        digit = int(letter) << (place & 1)
        total += digit - 9 if digit > 9 else digit
    return bool(value) and total % 10 == 0


KERNELS: Final[dict[str, Factory]] = {
    "levenshtein": lambda call: _levenshtein if len(call.args) == 2 else _levenshtein_within,
    "soundex": always(_soundex),
    "luhn_check": always(_luhn_check),
    "ascii": always(Inline("{ord}({0}[0]) if {0} else 0", {"ord": ord})),
    "chr": always(Inline("{chr}({0} & 255) if {0} >= 0 else ''", {"chr": chr})),
}
