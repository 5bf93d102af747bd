"""The program, which finds its package wherever the folder was copied."""

import sys
from importlib import import_module
from pathlib import Path

folder = Path(__file__).resolve().parent
sys.path[0] = str(folder.parent)
import_module(f"{folder.name}.program").main()
