"""The names that authors choose for their bots, and which of them look alike."""

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

LONGEST: Final = 32
_MARKS: Final = "-_."
_LETTERS: Final = (
    *("LATIN ", "DIGIT ", "CJK UNIFIED IDEOGRAPH-", "HANGUL SYLLABLE "),
    *("HIRAGANA LETTER ", "KATAKANA LETTER ", "KATAKANA-HIRAGANA PROLONGED SOUND MARK"),
)
"""How Unicode names the letters that are allowed begin. Other alphabets have letters that look like
Latin ones."""
_ALIKE: Final = str.maketrans("01i258リソ曰", "ollzsbりン日", _MARKS)
_ALIKE_TOGETHER: Final = (("rn", "m"), ("nn", "m"), ("vv", "w"), ("cl", "d"))
"""Latin letters that look alike, and other letters of which the data of Unicode do not say so."""


def normal(name: str) -> str:
    """The normal form of a name that Unicode can write in several ways."""
    return unicodedata.normalize("NFKC", name)


def problem(name: str) -> str | None:
    """What is wrong with a name that an author has chosen, and the fix, or None if nothing is.

    The name must be in normal form.
    """
    if not 1 <= len(name) <= LONGEST:
        return f"A name has 1 to {LONGEST} characters, not {len(name)}; choose another."
    if not name[0].isalnum() or not all(c in _MARKS or _is_plain(c) for c in name):
        return (
            "A name has Latin, Chinese, Japanese or Korean letters, digits, and the marks -_.,"
            " and begins with a letter or a digit; choose another."
        )
    return None


def _is_plain(letter: str) -> bool:
    name = unicodedata.name(letter, "")
    return name.startswith(_LETTERS) and (name[0] != "L" or _skeleton(letter).isascii())


def alike(name: str, others: Iterable[str]) -> str | None:
    """The first of `others` that equals the name or looks like it, or None if there is none.

    Versions of a bot (ann, ann/2) may look alike.
    """
    first, shape = base(name), _skeleton(base(name))
    for other in others:
        if other == name or (base(other) != first and _skeleton(base(other)) == shape):
            return other
    return None


def base(name: str) -> str:
    """The name without the number of its version: ann for ann/2."""
    return name.partition("/")[0]


@lru_cache(4096)
def _skeleton(name: str) -> str:
    """The same text for all names that look alike: case, accents and marks do not count."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(c for c in letters if unicodedata.category(c) != "Mn").translate(_ALIKE)
    if not plain.isascii():
        plain = "".join(map(_first_alike, plain))
    for pair, one in _ALIKE_TOGETHER:
        plain = plain.replace(pair, one)
    return plain


@cache
def _first_alike(letter: str) -> str:
    """The first, by code point, of a letter and the letters that Unicode calls confusable with it.

    Latin letters stay as they are.
    """
    if letter.isascii():
        return letter
    from confusable_homoglyphs import confusables  # 0.9 MB, which Latin names do not need

    found = (normal(each["c"]) for each in confusables.confusables_data.get(letter, ()))
    first = min([letter, *(one for one in found if _is_east_asian(one))])
    return first if first == letter else _first_alike(first)


def _is_east_asian(letter: str) -> bool:
    return len(letter) == 1 and unicodedata.name(letter, "").startswith(_LETTERS[2:])
