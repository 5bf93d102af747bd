"""Everything is in pyproject.toml; this adds files for the service, and compiles on request.

openapi.yaml and the pages of docs/ that the service serves are copied to service/static of the
built package, where the service finds them once it is installed.

With `STICH_COMPILE=1` the rules, and what the search bot spends its time in, are compiled by mypyc
from the same sources: `STICH_COMPILE=1 pip install .`, or `make wheel`. A checkout is never
compiled in place, where compiled files would go on running after their sources have changed.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

COMPILED = (
    "games/**/*.py",
    "bots/cards.py",
    "bots/thinking/*.py",
    "bots/*/playout.py",
    "bots/*/strategy.py",
)


def extensions() -> list[Extension]:
    """The modules to compile: none unless STICH_COMPILE is 1."""
    # The build asks for metadata first, several times: compiling for that would double its time.
    if os.environ.get("STICH_COMPILE") != "1" or {"egg_info", "dist_info", "sdist"} & {*sys.argv}:
        return []
    from mypyc.build import mypycify

    sources = {str(path) for pattern in COMPILED for path in Path().glob(pattern)}
    modules = sorted(source for source in sources if not source.endswith("__init__.py"))
    made: list[Extension] = mypycify(["--strict", *modules], opt_level="3", group_name="stich")
    if sys.platform == "linux":
        for extension in made:
            extension.extra_compile_args += ["-flto", "-fno-semantic-interposition"]
            extension.extra_link_args += ["-flto"]
    return made


class BuildOutsideTheCheckout(build_ext):
    """Compiles all modules anew, and never next to their sources."""

    def run(self) -> None:
        """Compile; raises SetupError for an editable install."""
        if self.extensions and (self.inplace or self.editable_mode):
            raise SetupError(
                "A checkout is never compiled in place: its compiled rules would go on running"
                " after the sources have changed. Leave out STICH_COMPILE=1 for an editable"
                " install, or build a wheel with `make wheel`."
            )
        self.force = True
        super().run()


class BuildWithStaticFiles(build_py):
    """Builds the Python files, and copies the files that the service serves next to them."""

    def run(self) -> None:
        """Build; an editable install reads the files where they are."""
        if not self.editable_mode:
            # what an earlier build left there, which may have been deleted since
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if self.editable_mode:
            return
        static = Path(self.build_lib, "service", "static")
        self.mkpath(str(static / "rules"))
        self.copy_file("openapi.yaml", str(static / "openapi.yaml"))
        for name in ("api", "sealed"):
            self.copy_file(f"docs/{name}.md", str(static / f"{name}.md"))
        for page in sorted(Path("docs", "rules").glob("*.md")):
            self.copy_file(str(page), str(static / "rules" / page.name))


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildOutsideTheCheckout, "build_py": BuildWithStaticFiles},
)
