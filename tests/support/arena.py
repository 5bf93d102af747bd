"""A ladder that bots join, with its pages."""

from hashlib import sha256
from pathlib import Path

from flask.testing import FlaskClient

from tests.support import played
from tournament.config.parse import read_cup
from web.arena.app import create_app
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
    """A ladder in a folder, and an author's calls."""

    def __init__(self, folder: Path, join: str = "open = true") -> None:
        path = folder / "ladder.toml"
        path.write_text(CUP.format(join=join))
        self.store = played.unfinished(folder / "run", read_cup(path))
        self.invitations = Invitations(folder / "run")
        app = create_app(self.store, 1, path, folder / "run", str(folder / "run"))
        self.client: FlaskClient = app.test_client()
        self.about: dict[str, str] = {}

    def ask(self, name: str, key: str, wants: str = "join", code: str = "", **more: str) -> str:
        """The bot, or why not."""
        call = {"name": name, "key": key, "wants": wants, "code": code, "about": self.about}
        answer = self.client.post("/join", json=call, environ_base=more)
        self.status = answer.status_code
        self.token = answer.json.get("token", "") if answer.json else ""
        found: str = (answer.json or {}).get("bot") or (answer.json or {})["detail"]
        return found

    @property
    def playing(self) -> list[str]:
        run = self.store.run()
        return [bot for bot in run.cup.names if bot not in run.gone and bot != "greedy"]
