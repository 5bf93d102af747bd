"""The program: finds its package wherever the folder was copied to."""

import sys
from importlib import import_module
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])
import_module("hostile.program").main()
