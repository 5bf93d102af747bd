"""Build steps that pyproject.toml cannot express: files for the service, and compiled rules.

With `STICH_COMPILE=1`, as in `STICH_COMPILE=1 pip install .` or `make wheel`, mypyc compiles the
rules and the slow parts of the search bot.
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
    "bots/ninefivetwo.py",
    "bots/shedding/*.py",
    "bots/thinking/*.py",
    "bots/zhengfen.py",
)


def extensions() -> list[Extension]:
    """Return the modules to compile, or an empty list unless STICH_COMPILE is 1."""
    # A build runs this file several times for metadata only, and compiles nothing then.
    if os.environ.get("STICH_COMPILE") != "1" or {"egg_info", "dist_info", "sdist"} & {*sys.argv}:
        return []
    from mypyc.build import mypycify

    sources = {str(path) for pattern in COMPILED for path in Path().glob(pattern)}
    modules = sorted(source for source in sources if not source.endswith("__init__.py"))
    compiled: list[Extension] = mypycify(["--strict", *modules], opt_level="3", group_name="stich")
    if sys.platform == "linux":
        for extension in compiled:
            extension.extra_compile_args += ["-flto", "-fno-semantic-interposition"]
            extension.extra_link_args += ["-flto"]
    return compiled


class BuildOutsideTheCheckout(build_ext):
    """Compiles all modules from scratch, and never next to their sources."""

    def run(self) -> None:
        """Compile the modules, or refuse to do so in a checkout."""
        if self.extensions and (self.inplace or self.editable_mode):
            raise SetupError(
                "A checkout is never compiled in place: its compiled rules would still be used"
                " after the sources have changed. Leave out STICH_COMPILE=1 for an editable"
                " install, or build a wheel with `make wheel`."
            )
        self.force = True
        super().run()


class BuildWithStaticFiles(build_py):
    """Builds the package, and copies what the service serves to service/static in it."""

    def run(self) -> None:
        """Build the package. An editable install copies nothing."""
        if not self.editable_mode:
            # An earlier build may have left files whose sources have been deleted since.
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
