r"""Which lines of a block of documents may hold an e-mail address or a number, told from their raw bytes.

It misses none, whatever the text holds; what it names the exact patterns in ``pii`` look at. A line is JSON,
so the characters that the patterns need stand in it as themselves, or behind ``\u``.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.formats.lines import Block

EMAIL, PHONE, IP, OTHER_DIGITS = 1, 2, 4, 8
"""Bits of what a line may hold; other digits, those beyond ASCII, may be a phone number's."""
ANYTHING = 15

Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]
Places = NDArray[np.int64]

# Pieces stay in the second-level cache. They reach into the next one as far as a pattern does from its start.
_PIECE_IN_BYTES = 128 * 1024
_REACH = 16

_AT, _DOT, _ZERO, _TEN, _BACKSLASH, _QUOTE, _OPENING = np.frombuffer(b'@.0\n\\"(', np.uint8)
_LEAST_LEAD_OF_DIGITS, _LEAST_LEAD_OF_WIDE = np.frombuffer(b"\xd9\xef", np.uint8)
_FIRST_LEAD_OF_OTHERS, _NUM_LEADS_OF_OTHERS = np.frombuffer(b"\xe2\x08", np.uint8)
DIGITS = (
    "d9a0-d9a9 dbb0-dbb9 df80-df89 e0a5 e0a7 e0a9 e0ab e0ad e0af e0b1 e0b3 e0b5 e0b7 e0b9 e0bb "
    "e0bc e181 e182 e19f e1a0 e1a5 e1a7 e1aa e1ad e1ae e1b1 ea98 eaa3 eaa4 eaa7 eaa9 eaaf "
    "f090 f091 f096 f09c f09d f09e"
)
"""First two bytes in UTF-8 of all digits beyond ASCII (a test compares with the running Python).

Left out are those of wide marks (``ef bc``) and pictures (``f0 9f``), of which few are digits.
"""
WIDE_DIGITS = "bc90-bc99 9faf"
"""Second and third bytes of the digits among these."""
DOUBTFUL_ESCAPE = re.compile(
    rb"\\u(?:0085|00a0|200|202[89f]|205f|3000"
    rb"|(?!00[89a-f]|0[1-5]|[2-9]|a[c-f]|[bc]|d[0-7c-f]|d83[cd]|ff[02-9a-f]))",
    re.IGNORECASE,
)
"""Begins the escape of what may be ASCII, white space or a digit; few letters, marks and pictures do."""


def _table(characters: bytes) -> Flags:
    return np.isin(np.arange(256), np.frombuffer(characters, np.uint8))


def _pairs(written: str) -> Flags:
    """Return a table over two bytes from pairs such as ``e0a5`` and runs of them, ``d9a0-d9a9``."""
    table = np.zeros(1 << 16, np.bool_)
    for pair in written.split():
        first, _, last = pair.partition("-")
        table[int(first, 16) : int(last or first, 16) + 1] = True
    return table


_IS_DIGIT = _table(b"0123456789")
_BEGINS_DIGIT = _pairs(DIGITS)
_ENDS_WIDE_DIGIT = _pairs(WIDE_DIGITS)
# What may stand between the first three digits of a phone number and the next three.
_IS_MARK = _table(b")-. ")
_MARKS = 4
"""Longest run of such marks that is looked through."""
# What may end white space: a space, the letters of ``\n`` and its like, the last byte of one beyond ASCII.
_MAY_END_SPACE = _table(b" ntrf" + bytes(range(0x80, 0x100)))
# A local part does not end with these, a domain does not begin with those. A quote ends the text, unless it
# has a backslash before it; a line feed is written as a backslash and n.
_ENDS_BEFORE_AT = _table(b" @")
_ENDS_AFTER_AT = _table(b' @,?!;:)("')
_IS_ESCAPED_SPACE = _table(b"ntrf")


class CandidateFinder:
    r"""Tells of each line of a block what it may hold, as a sum of ``EMAIL``, ``PHONE`` and so on.

    Of the lines ``{"text":"me@x.org "}``, ``{"text":"3.14"}``, ``{"text":"call 555-123-4567"}`` it says
    ``[1, 0, 2]``. It keeps its working memory, so one is for one thread.
    """

    def __init__(self) -> None:
        import re2

        size = _PIECE_IN_BYTES + _REACH
        self._numbers = np.empty(size, np.uint8)
        self._flags = np.empty((5, size), np.bool_)
        self._escapes: Any = re2.compile(rb"\\u")

    def __call__(self, block: Block) -> list[int]:
        """Return one number for each line."""
        content, codes, ends = block.content, block.codes, block.ends
        is_ascii = content.isascii()
        found: tuple[list[Places], ...] = ([], [], [], [])
        for start in range(0, len(codes), _PIECE_IN_BYTES):
            piece = codes[start : start + _PIECE_IN_BYTES + _REACH]
            if len(piece) < _REACH:  # seen with the piece before; a document takes more
                break
            for of_kind, places in zip(found, self._find(piece, is_ascii=is_ascii), strict=True):
                of_kind.append(places + start)
        # The plain search for two bytes takes five times as long.
        escapes = (found.start() for found in self._escapes.finditer(content))
        doubtful = [place for place in escapes if DOUBTFUL_ESCAPE.match(content, place)]
        kinds = np.zeros(len(ends) + 1, np.uint8)
        ats, sevens, dotted, others = map(_joined, found)
        for kind, places in (
            (EMAIL, _of_addresses(codes, ats)),
            (PHONE, _of_phones(codes, sevens)),
            (IP, dotted),
            (PHONE | OTHER_DIGITS, _of_other_digits(codes, others)),
            (ANYTHING, np.array(doubtful, np.int64)),
        ):
            kinds[np.searchsorted(ends, places)] |= kind
        of_lines: list[int] = kinds.tolist()
        return of_lines

    def _find(self, piece: Codes, *, is_ascii: bool) -> tuple[Places, Places, Places, Places]:
        """Return where there is an ``@``, seven digits or dotted ones begin, and those beyond ASCII may.

        Seven digits are ``5551234``, or ``555-1234`` with any character between. Dotted is ``1.2`` with two
        more like it near by, as in ``10.1.22.3``.
        """
        size = len(piece)
        one, two, three, four, hits = (flags[:size] for flags in self._flags)
        np.less(np.subtract(piece, _ZERO, out=self._numbers[:size]), _TEN, out=one)
        # two[k]: digits at k and k + 1; three[k], four[k]: so many from k on.
        np.logical_and(one[:-1], one[1:], out=two[:-1])
        np.logical_and(two[:-2], one[2:], out=three[:-2])
        np.logical_and(two[:-3], two[2:-1], out=four[:-3])
        np.logical_or(four[:-4], four[1:-3], out=two[:-4])
        np.logical_and(three[:-7], two[3:-4], out=three[:-7])
        three[-7:] = False
        np.equal(piece[1:-1], _DOT, out=two[:-2])
        np.logical_and(two[:-2], one[:-2], out=two[:-2])
        np.logical_and(two[:-2], one[2:], out=two[:-2])
        two[-2:] = False
        np.logical_or(two, three, out=hits)
        np.logical_or(hits, np.equal(piece, _AT, out=one), out=hits)
        if not is_ascii:
            np.greater_equal(piece, _LEAST_LEAD_OF_DIGITS, out=one)
            # U+2000 to U+9FFF, common and never a digit: marks, kana, Chinese characters.
            np.subtract(piece, _FIRST_LEAD_OF_OTHERS, out=self._numbers[:size])
            np.greater_equal(self._numbers[:size], _NUM_LEADS_OF_OTHERS, out=four)
            np.logical_and(one, four, out=one)
            np.logical_or(hits, one, out=hits)
        places = _places(self._flags[4], size)
        found = piece.take(places)  # many times faster than an index here
        dots = places.compress(two.take(places))
        is_near = np.diff(dots) <= 4
        dotted = dots[:-2].compress(is_near[:-1] & is_near[1:])
        sevens = places.compress(three.take(places))
        return places.compress(found == _AT), sevens, dotted, places.compress(found >= _LEAST_LEAD_OF_DIGITS)


def _of_phones(codes: Codes, places: Places) -> Places:
    """Return those of the sevens that have three digits before them, and before these white space."""
    place = places - 1
    for _ in range(_MARKS):
        place -= _IS_MARK.take(codes.take(place))
    is_phone = _IS_DIGIT.take(codes.take(place))
    is_phone &= _IS_DIGIT.take(codes.take(place - 1)) & _IS_DIGIT.take(codes.take(place - 2))
    before = place - 3
    before -= codes.take(before) == _OPENING
    is_phone &= _MAY_END_SPACE.take(codes.take(before))
    return places.compress(is_phone | _IS_MARK.take(codes.take(place)))


def _of_other_digits(codes: Codes, places: Places) -> Places:
    """Return those of some leads at which a digit beyond ASCII may begin."""
    last = len(codes) - 1
    first = codes.take(places).astype(np.uint16)
    second = codes.take(np.minimum(places + 1, last)).astype(np.uint16)
    third = codes.take(np.minimum(places + 2, last))
    is_wide = (first >= _LEAST_LEAD_OF_WIDE) & _ENDS_WIDE_DIGIT.take(second << 8 | third)
    return places.compress(_BEGINS_DIGIT.take(first << 8 | second) | is_wide)


def _of_addresses(codes: Codes, places: Places) -> Places:
    """Return those ``@`` that have on both sides what may belong to an address."""
    last = len(codes) - 1
    before, after = codes.take(places - 1), codes.take(np.minimum(places + 1, last))
    is_escaped = codes.take(places - 2) == _BACKSLASH
    # \n is a line feed, \\n is a backslash and an n.
    is_end = is_escaped & _IS_ESCAPED_SPACE.take(before) & (codes.take(places - 3) != _BACKSLASH)
    is_end |= _ENDS_BEFORE_AT.take(before) | ((before == _QUOTE) & ~is_escaped)
    next_ = codes.take(np.minimum(places + 2, last))
    is_end |= _ENDS_AFTER_AT.take(after) | ((after == _BACKSLASH) & _IS_ESCAPED_SPACE.take(next_))
    return places.compress(~is_end)


def _joined(places: list[Places]) -> Places:
    return np.concatenate(places) if places else np.empty(0, np.int64)


def _places(flags: Flags, size: int) -> Places:
    """Return where one of the first ``size`` flags is set: faster than ``flatnonzero`` where few are.

    Up to seven flags behind them are cleared.
    """
    stop = size + -size % 8
    flags[size:stop] = False
    words = np.flatnonzero(flags[:stop].view(np.uint64) != 0)
    inside = np.flatnonzero(flags[:stop].reshape(-1, 8).take(words, axis=0))
    return words.take(inside >> 3) * 8 + (inside & 7)
