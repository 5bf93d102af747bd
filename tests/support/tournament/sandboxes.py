"""Bots in sandboxes, and what they print."""

import os
import shlex
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament.cups import HOSTILE, why_no_sandbox
from tournament.bot.launch import LaunchSettings, environment, prepare_launch
from tournament.bot.started_bot import BotProcess
from tournament.config.cup import Bot, Limits

WHY_NO_SANDBOX = why_no_sandbox()


def launched(bot: Bot, folder: Path, **options: Any) -> LaunchSettings:
    """The settings for starting a bot in a sandbox. Skips the test if sandboxes are unavailable."""
    if WHY_NO_SANDBOX:
        pytest.skip(WHY_NO_SANDBOX)
    return prepare_launch([bot], Limits(), 60_000, sandbox=True, folder=folder, **options)[0]


def output(bot: Bot, launch: LaunchSettings) -> str:
    with closing(BotProcess(bot, environment(shlex.split(str(bot.command)), 1), launch)) as process:
        while process.status() is None:
            os.sched_yield()
        return process.output()


def printed(command: str, folder: Path = HOSTILE, dir: str | None = None) -> str:
    """What a program prints when it is started as a bot in a sandbox."""
    bot = Bot("x", command, dir=dir)
    return output(bot, launched(bot, folder))
