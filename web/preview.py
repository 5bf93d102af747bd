"""The picture that other sites show beside a link to a report or an arena."""

import struct
import zlib
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tournament.results.standings import Standings
from web.ui.plots import score_bars

WIDTH, HEIGHT = 1200, 630
_ROWS: Final = 8
_TOP, _ROW, _BAR = 75, 60, 34
_GROUND, _FIRST, _OTHERS, _LINE = (13, 91, 67), (224, 182, 74), (207, 227, 216), (110, 156, 139)


def preview(table: Standings) -> bytes:
    """Return a PNG image, 1200 × 630 pixels, of the first eight bots in the standings.

    Each bot that has points has a bar from zero to its points per deal, and a line for the interval
    if that is known. The image has no text, because no font has the letters of all names.
    """
    pixels = np.full((HEIGHT, WIDTH, 3), _GROUND, np.uint8)

    def draw(ends: tuple[float, float], top: int, bottom: int, colour: tuple[int, ...]) -> None:
        left, right = (round(value / 100 * WIDTH) for value in sorted(ends))
        pixels[top:bottom, left : right + 3] = colour

    shown = replace(table, standings=table.standings[:_ROWS])
    for number, bar in enumerate(score_bars(shown).values()):
        top = _TOP + number * _ROW
        draw((bar.reference, bar.value), top, top + _BAR, _OTHERS if number else _FIRST)
        if bar.low is not None and bar.high is not None:
            draw((bar.low, bar.high), top + _BAR // 2 - 2, top + _BAR // 2 + 2, _LINE)
    return _png(pixels)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + 3 * width), np.uint8)  # a line begins with its filter, 0: none
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
