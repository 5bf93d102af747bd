"""The configuration of Sphinx, which builds the docs site with `make docs`.

The source folder is the whole project, so that links work both in the site and in a checkout.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

from service.app import create_app

project = "Stich"
html_title = "Stich"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [".*", "bots", "node_modules", "runs", "site", "tests"]
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
html_copy_source = False
html_use_index = False
html_show_copyright = False

ENTRY = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">'


def setup(app: Sphinx) -> None:
    """Register `add_pages`, which adds the pages that are not Markdown."""
    app.connect("build-finished", add_pages)


# The addresses differ from those of the service, and there is no service to call.
REPLACED = {
    '"/docs/assets/': '"assets/',
    '"/docs#': '"#',
    '"/docs"': '"openapi.html"',
    '"/openapi.yaml"': '"openapi.yaml"',
    "tryItOutEnabled: true": "supportedSubmitMethods: []",
}


def add_pages(app: Sphinx, failure: Exception | None) -> None:
    """Write the contract as the service shows it, and the entry page, unless the build failed."""
    if failure:
        return
    site, client = Path(app.outdir), create_app().test_client()

    def copy(url: str, file: str) -> str:
        text = client.get(url).text
        for there, here in REPLACED.items():
            text = text.replace(there, here)
        text = re.sub(r'"/(docs/rules/\w+)"', r'"\1.html"', text)
        (site / file).write_text(text)
        return text

    (site / "assets").mkdir(exist_ok=True)
    (site / "index.html").write_text(ENTRY)
    (site / "openapi.yaml").write_bytes(client.get("/openapi.yaml").data)
    page = copy("/docs", "openapi.html")
    for name in re.findall('"assets/([^"]+)"', page):
        if name.endswith(".png"):
            (site / "assets" / name).write_bytes(client.get(f"/docs/assets/{name}").data)
        else:
            copy(f"/docs/assets/{name}", f"assets/{name}")
