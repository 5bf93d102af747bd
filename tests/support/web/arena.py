"""A ladder that bots join, with its pages."""

from hashlib import sha256
from pathlib import Path

from flask.testing import FlaskClient

from tests.support.tournament import played
from tournament.config.parse import read_cup
from web.arena.app import create_app
from web.arena.live_run import LiveRun
from web.gateway.invitations import Invitations

CUP = """
name = "Autumn ladder"
seed = "test"
game = "doudizhu"
[format]
type = "ladder"
[join]
{join}
per_author = 2
most = 4
[[bots]]
name = "greedy"
command = "python -m bots.greedy"
"""
ANN, BOB, CAT = (sha256(name).hexdigest() for name in (b"ann", b"bob", b"cat"))
"""The keys of three authors."""


class Arena:
    """A ladder in a folder, its pages, and an author's calls."""

    def __init__(self, folder: Path, join: str = "open = true") -> None:
        path = folder / "ladder.toml"
        path.write_text(CUP.format(join=join))
        self.folder = folder / "run"
        self.store = played.unfinished(self.folder, read_cup(path))
        self.invitations = Invitations(self.folder)
        app = create_app(self.store, 1, path, self.folder, str(self.folder))
        self.client: FlaskClient = app.test_client()
        self.run: LiveRun = app.extensions["stich-run"]
        self.about: dict[str, str] = {}

    def ask(self, name: str, key: str, wants: str = "join", code: str = "", **environ: str) -> str:
        """Call `/join`. Return the name of the bot, or why the call was refused."""
        call = {"name": name, "key": key, "wants": wants, "code": code, "about": self.about}
        answer = self.client.post("/join", json=call, environ_base=environ)
        self.status = answer.status_code
        fields: dict[str, str] = answer.get_json()
        self.token = fields.get("token", "")
        return fields.get("bot") or fields["detail"]

    @property
    def playing(self) -> list[str]:
        run = self.store.run()
        return [bot for bot in run.cup.names if bot not in run.gone and bot != "greedy"]
