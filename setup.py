"""Adds the rules pages and an optional compiled build to what pyproject.toml says.

A built package has the pages of docs/rules as service/rules_pages, where the installed service
looks for them.

`STICH_COMPILE=1 python setup.py build_ext --inplace` compiles games/ with mypyc; Python then
prefers the compiled modules. Otherwise nothing is compiled.
"""

import os
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

if os.environ.get("STICH_COMPILE") == "1":
    from mypyc.build import mypycify

    sources = sorted(str(path) for path in Path("games").rglob("*.py"))
    extensions = mypycify(
        ["--strict", *(path for path in sources if not path.endswith("__init__.py"))],
        opt_level="3",
    )
else:
    extensions = []


class BuildWithRules(build_py):
    """Builds the Python files and copies the rules pages."""

    def run(self) -> None:
        """Build; an editable install reads the pages from docs/rules."""
        super().run()
        if self.editable_mode:
            return
        pages = Path(self.build_lib, "service", "rules_pages")
        self.mkpath(str(pages))
        for page in sorted(Path("docs", "rules").glob("*.md")):
            self.copy_file(str(page), str(pages / page.name))


setup(ext_modules=extensions, cmdclass={"build_py": BuildWithRules})
