"""A greedy bot that takes SLEEP seconds to start, and notes each start in the file STARTS."""

from __future__ import annotations

import os
import runpy
import time
from pathlib import Path

if __name__ == "__main__":
    with Path(os.environ["STARTS"]).open("a") as file:
        file.write("started\n")
    time.sleep(float(os.environ["SLEEP"]))
    runpy.run_module("bots.greedy", run_name="__main__")
