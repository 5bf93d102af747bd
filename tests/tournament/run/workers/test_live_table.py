"""Matches in progress, as the pages read them."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from unittest.mock import Mock

import pytest

from games.game import JsonDict
from tests.support.tournament import played
from tournament.bot.launch import LaunchSettings
from tournament.run.workers.bot_pool import BotPool
from tournament.run.workers.executor import Finished, Job
from tournament.run.workers.live_table import live_matches, make_folder

SHARED = played.cup()
FRESH = replace(SHARED, format=replace(SHARED.format, cards="fresh"))
RUN = "a-run"


def test_moves_are_shown_while_a_bot_thinks() -> None:
    folder = make_folder(FRESH, RUN)
    assert folder
    assert folder.stat().st_mode & 0o777 == 0o700
    seen: list[list[str]] = []

    def choose(view: JsonDict, moves: Sequence[str]) -> str:
        known = [entry["move"] for entry in view["history"]]
        if len(known) > 3 and not seen:  # think until all moves are shown
            while known not in [match.moves for match in live_matches(RUN)]:
                Event().wait(0.02)
            seen.append(known)
        return moves[-1]

    block = played.first_block(FRESH)
    bots = dict.fromkeys(FRESH.names, choose)
    pool = BotPool(FRESH, LaunchSettings(FRESH.limits, 1), in_process=bots)
    (first,) = pool.play_job(Job(block, (0,), live=folder), lambda: False)
    assert isinstance(first, Finished)
    assert seen == [list(first.record.moves[: len(seen[0])])]
    (file,) = folder.iterdir()
    os.utime(file, (0, 0))
    assert not list(live_matches(RUN))  # because the file is old
    make_folder(FRESH, RUN)
    assert not list(folder.iterdir())
    shutil.rmtree(folder)
    (second,) = pool.play_job(Job(block, (1,), live=folder), lambda: False)
    assert isinstance(second, Finished)  # without the folder


def test_matches_with_shared_cards_are_not_shown() -> None:
    left = make_folder(FRESH, RUN)
    assert left
    assert make_folder(SHARED, RUN) is None
    assert not left.exists()


def test_a_user_without_a_home_has_no_match_in_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError))
    assert not list(live_matches(RUN))
