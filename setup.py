"""Everything is in pyproject.toml; this adds files for the service, and an optional compiled build.

openapi.yaml and the pages of docs/rules are copied to service/static of the built package, where
the service finds them once it is installed.

`STICH_COMPILE=1 python setup.py build_ext --inplace` compiles games/ by mypyc from the same
sources; Python then prefers the compiled modules. Without it nothing is compiled.
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


class BuildWithStaticFiles(build_py):
    """Builds the Python files, and copies the files that the service serves next to them."""

    def run(self) -> None:
        """Build; an editable install reads the files where they are."""
        super().run()
        if self.editable_mode:
            return
        static = Path(self.build_lib, "service", "static")
        self.mkpath(str(static / "rules"))
        self.copy_file("openapi.yaml", str(static / "openapi.yaml"))
        for page in sorted(Path("docs", "rules").glob("*.md")):
            self.copy_file(str(page), str(static / "rules" / page.name))


setup(ext_modules=extensions, cmdclass={"build_py": BuildWithStaticFiles})
