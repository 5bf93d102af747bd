"""Everything is in pyproject.toml; this only adds the optional compiled build of the rules.

`STICH_COMPILE=1 python setup.py build_ext --inplace` compiles games/ by mypyc from the same
sources; Python then prefers the compiled modules. Without it nothing is compiled.
"""

import os
from pathlib import Path

from setuptools import setup

if os.environ.get("STICH_COMPILE") == "1":
    from mypyc.build import mypycify

    sources = sorted(str(path) for path in Path("games").glob("*.py"))
    extensions = mypycify(
        ["--strict", *(path for path in sources if not path.endswith("__init__.py"))],
        opt_level="3",
    )
else:
    extensions = []

setup(ext_modules=extensions)
