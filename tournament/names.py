"""The names that authors choose for their bots: which are allowed, and which look alike."""

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
"""The beginnings of the Unicode names of the allowed letters. Other alphabets have letters that
look like Latin letters."""
_ALIKE: Final = str.maketrans("01i258リソ曰", "ollzsbりン日", _MARKS)
_ALIKE_TOGETHER: Final = (("rn", "m"), ("nn", "m"), ("vv", "w"), ("cl", "d"))
"""Letters that look alike although the Unicode data do not say so."""


def normal(name: str) -> str:
    """Return the normal form (NFKC) of a name, which is the same for equivalent spellings."""
    return unicodedata.normalize("NFKC", name)


def problem(name: str) -> str | None:
    """Return an English sentence about what is wrong with a name, or None if the name is allowed.

    The name must be in normal form (see `normal`). A version number, as in ann/2, is not allowed.
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
    """Return the first name in `others` that equals `name` or looks like `name`, or None. Version
    numbers are ignored, but versions of one bot (ann and ann/2) do not count as alike."""
    first, shape = base(name), _skeleton(base(name))
    for other in others:
        if other == name or (base(other) != first and _skeleton(base(other)) == shape):
            return other
    return None


def base(name: str) -> str:
    """Return the name without its version number: ann for ann/2."""
    return name.partition("/")[0]


@lru_cache(4096)
def _skeleton(name: str) -> str:
    """Return a string that is the same for names that look alike, ignoring case and accents."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(c for c in letters if unicodedata.category(c) != "Mn").translate(_ALIKE)
    if not plain.isascii():
        plain = "".join(map(_first_alike, plain))
    for pair, letter in _ALIKE_TOGETHER:
        plain = plain.replace(pair, letter)
    return plain


@cache
def _first_alike(letter: str) -> str:
    """Return the letter with the lowest code point among a letter and its East Asian lookalikes."""
    if letter.isascii():
        return letter
    from confusable_homoglyphs import confusables  # 0.9 MB, which Latin names do not need

    similar = (normal(item["c"]) for item in confusables.confusables_data.get(letter, ()))
    first = min([letter, *filter(_is_east_asian, similar)])
    return first if first == letter else _first_alike(first)


def _is_east_asian(letter: str) -> bool:
    return len(letter) == 1 and unicodedata.name(letter, "").startswith(_LETTERS[2:])
