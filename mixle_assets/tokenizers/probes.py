"""Texts on which tokenizers differ where they differ: what an engine must reproduce before it is trusted.

Only texts; who compares them with what is in ``engines``.
"""

from __future__ import annotations

from collections.abc import Sequence

_SCRIPTS = [
    "The quick brown fox jumps over 13 lazy dogs. It's done; we'll see, they've said: \"I'M\" – don’t!",
    "Die Größe der Übung: süß, Straße, ÄÖÜ, naïve façade, coöperate, Ångström.",
    "Быстрая коричневая лиса прыгает через ленивую собаку.",
    "Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί.",
    "敏捷的棕色狐狸跳过了懒狗。中文，没有空格！",
    "素早い茶色の狐がのろまな犬を飛び越える。カタカナとひらがな。",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다.",
    "الثعلب البني السريع يقفز فوق الكلب الكسول.",
    "השועל החום המהיר קופץ מעל הכלב העצלן.",
    "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है।",
    "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ",
    "நாய் குதிக்கிறது, ქართული ენა, հայերեն, አማርኛ, ᏣᎳᎩ",
]
_SHAPES = [
    "",
    " ",
    "\n",
    "a",
    "\t\tif x:\n\t\t    return  1\n\n\n\n\r\n\r\nend",
    "  leading and trailing  ",
    "a  b   c    d     e      f",
    "x \n y\n \nz \t\n",
    "word\u00a0word\u2003word\u3000word\u2028word\u2029word\u0085word\u200bword\ufeffword",
    "0 1 12 123 1234 12345 123456789012345678901234567890 3.14159 1,000,000 ½ ² ٣ ໓ 一二三 Ⅷ",
    "camelCase snake_case UPPER lower MiXeD x2y3 ---- ==== **** ///// \\\\\\ ..... ,,,,",
    'https://example.org/a?b=c&d=e#f user@example.org C:\\dir\\file.txt <p class="x">y</p>',
    "'s 't 're 've 'm 'll 'd 'S 'T 'RE 'VE 'M 'LL 'D ’s 'ſ",
    "\x00\x01\x02\x07\x08\x0b\x0c\x0e\x1b\x1f\x7f\x80\x9f",
    "é e\u0301 ﬁ ﬀ ① ㎏ Å Å \u0344 ẛ̣ 가 각",
    "😀😃👍🏽👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 ☺️ ❤️‍🔥 \U0001f9d1\u200d\U0001f680",
    "\u0301\u0302 combining first, zero\u200dwidth\u200cjoiners, \u202ertl\u202c, \ufffd\ufffe\uffff",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𠀋 \U0010fffd",
    "def f(a, b):\n    '''doc'''\n    return {k: v for k, v in zip(a, b) if k != v}  # end\n",
    '{"key": [1, 2.5e-3, null, true], "nested": {"a": "b\\n"}}',
]
_RUNS = [
    character * length
    for character in ("a", " ", "\n", "^", "0", "é", "漢", "😀", "-", "ab")
    for length in (2, 3, 7, 16, 33, 100, 1000)
]
_LONG = [
    " ".join(f"w{number * 7919 % 1009}" for number in range(2000)),
    "supercalifragilistic" * 200,
    "".join(chr(0x4E00 + number * 37 % 20000) for number in range(3000)),
    "".join(chr(33 + number * 31 % 94) for number in range(5000)),
]


def probe_texts(names: Sequence[str]) -> list[str]:
    """Return the texts, those with the spellings of special or added tokens among them.

    Args:
        names: Texts of tokens to place alone, inside words, between spaces and twice in a row.
    """
    spelled = [
        text
        for name in names
        for text in (name, f"before {name} after", f"x{name}y", f"{name}{name}", f" {name}\n", name[:-1])
    ]
    return [*_SCRIPTS, *_SHAPES, *_RUNS, *_LONG, *spelled, " ".join(_SCRIPTS), "\n\n".join(_SHAPES)]
