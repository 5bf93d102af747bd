"""Joining a ladder: the page that says how, the program as a wheel to install, and the calls of
`stich join` and `stich leave`."""

import hashlib
import hmac
import zipfile
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.metadata import Distribution
from io import BytesIO
from time import monotonic
from typing import Final

import msgspec
import segno
from flask import Response, current_app, render_template, request
from markupsafe import Markup

from serving.work import PIECE, Pieces
from tournament.config.cup import Cup
from tournament.decisions import excluded, finished_by
from tournament.language import gettext as _
from tournament.language import ngettext
from tournament.model import Identity
from tournament.names import base, normal, problem
from tournament.records import AnyDecision, Join, Leave
from tournament.run.joining import JoinRefused, freed, join, leave, seated
from tournament.store.engine import StoreError
from web.arena.live_run import current_run
from web.arena.snapshot import RunView
from web.gateway.addresses import network_of, parse_address
from web.gateway.calls import LadderCall
from web.gateway.invitations import Invitations, TokenRefused

AN_HOUR: Final = 60  # new bots and refusals for one address, which all authors in a hall may share
_HOUR_S: Final = 3600.0
_MAX_ADDRESSES: Final = 10_000  # with a count; if there are more, all counts are reset
_TOKEN_DAYS: Final = 3650
_ASK: Final = "ask the organiser for a token (`stich invite`), and use `stich connect`"
_COMPILED: Final = (".so", ".pyd", ".pyc")
_METADATA: Final = ("METADATA", "entry_points.txt", "top_level.txt")
_WHEEL: Final = b"""\
Wheel-Version: 1.0
Generator: stich
Root-Is-Purelib: true
Tag: py3-none-any
"""
_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same program gives the same file


class OpenLadder:
    """The pages of a ladder that bots may join.

    `target` is the run: a folder or a database URL. `cup` is the ladder as its file describes it.
    `invitations` records the joining bots' tokens. Authors can download `program` as a wheel.
    """

    def __init__(
        self, target: str, cup: Cup, invitations: Invitations, program: Distribution
    ) -> None:
        self.cup = cup
        self._program = program
        self.wheel = _wheel_name(program)
        """The file name of the program's wheel, or None for an editable installation."""
        self._target = target
        self._invitations = invitations
        self._counts = Counter[str]()
        self._ends = 0.0

    def page(self) -> str:
        """Return the page that says how many bots play and how to join, or that the ladder is over.
        Answer with status 503 if the run has not begun or cannot be read."""
        now = current_run().view()
        over = now.finished or finished_by(now.run.decisions) is not None
        return render_template(
            "join.html",
            now=now,
            cup=self.cup,
            over=over,
            state=_("The ladder is over.") if over else _state(self.cup, now),
            url=request.url_root.rstrip("/"),
            wheel=self.wheel,
            code=qr_code(request.base_url),
        )

    def program(self) -> Response:
        """Return the program's wheel, which the first call makes. `wheel` must not be None.

        Raises:
            OSError: if an installed file cannot be read.
        """
        data = _wheel_of(self._program)
        pieces = (data[start : start + PIECE] for start in range(0, len(data), PIECE))
        answer = Response(Pieces(pieces, rest=0), mimetype="application/zip")
        answer.content_length = len(data)
        answer.direct_passthrough = True
        return answer

    def call(self) -> tuple[dict[str, str], int]:
        """Carry out the call of `stich join` or `stich leave` in the body of the request.

        Return the answer, which is sent as JSON, and its status. The answer has the names of the
        bot and of the ladder, and the bot's token. If the call fails, the answer has the reason as
        `detail`. The status is then 400 for an invalid call, 403 for a refusal, 503 if the run
        cannot be used, or 429 if 60 calls from the caller's address have failed or stored a new
        token within an hour.
        """
        address = _address()
        if self._is_flooded(address):
            many = f"{AN_HOUR} bots of your address came, or were refused, within an hour"
            return {"detail": f"{many}; try again later."}, 429
        self._counts[address] += 1
        try:
            call = msgspec.json.decode(request.get_data(), type=LadderCall)
            key = bytes.fromhex(call.key)
            bot = self._carry_out(call, hashlib.sha256(key).hexdigest()[:16])
            token = hmac.digest(key, bot.encode(), "sha256").hex()
            if call.wants == "leave" or not self._invitations.accept(bot, token, _TOKEN_DAYS):
                self._counts[address] -= 1
        except msgspec.DecodeError:
            return {"detail": "This is not a call of `stich join`."}, 400
        except (JoinRefused, TokenRefused) as refused:
            return {"detail": str(refused)}, 403
        except (StoreError, OSError) as error:
            current_app.logger.error("%s", error)
            return {"detail": "The arena cannot write to its run now; try again later."}, 503
        return {"bot": bot, "token": token, "ladder": self.cup.name}, 200

    def _is_flooded(self, address: str) -> bool:
        if monotonic() >= self._ends or len(self._counts) > _MAX_ADDRESSES:
            self._counts.clear()
            self._ends = monotonic() + _HOUR_S
        return self._counts[address] >= AN_HOUR

    def _carry_out(self, call: LadderCall, author: str) -> str:
        """Carry out a call, and return the bot's name, with its version from 2 on. `author` is the
        start of the SHA-256 of the author's key. A call for a token changes nothing. If the name of
        another author's bot is free, a new bot of that name is that bot's next version.

        Raises:
            JoinRefused: if the call is refused. The message says why.
            StoreError: if the store cannot be used.
        """
        name = normal(call.name)
        if wrong := problem(name):
            raise JoinRefused(wrong)
        decisions = current_run().store.decisions()
        latest = next(reversed(versions(decisions, name)), None)
        is_free = latest is None or (latest.author != author and base(name) in freed(decisions))
        if is_free and call.wants == "join":
            self._check_code(call.code)
            number = latest.version + 1 if latest else 1
            bot = f"{base(name)}/{number}" if latest else name
            join(self._target, self.cup, bot, author, number)
            return bot
        if latest is None:
            raise JoinRefused(f"No bot {name} has joined here; check the name.")
        if latest.author != author:
            raise JoinRefused(
                f"There is a bot {latest.bot} of somebody else; choose another name. If it is yours"
                f" and you have lost your key, {_ASK}.",
            )
        if call.wants == "leave":
            leave(self._target, self.cup, latest.bot)
        if call.wants in ("leave", "token"):
            return latest.bot
        return self._join(latest, call)

    def _join(self, latest: Join, call: LadderCall) -> str:
        """Enter the bot's next version if the call asks for a new version, or if the bot's
        statements about itself have changed. The next version replaces the version that joined by
        `latest`. Return the name of the version that now plays.

        Raises:
            JoinRefused: if the organiser has excluded the bot, the bot has left and the call does
                not ask for a new version, or the new version cannot join (see `join`).
            StoreError: if the store cannot be used.
        """
        run = current_run().view().run
        exclusion = excluded(run.decisions).get(latest.bot)
        if exclusion is not None and not isinstance(exclusion, Leave):
            raise JoinRefused(f"The organiser decided that {latest.bot} no longer plays.")
        known = (Identity(), *run.about.get(latest.bot, ())[-1:])
        changed = len(known) > 1 and call.about not in known and exclusion is None
        if call.wants == "new-version" or changed:
            number, retires = latest.version + 1, "" if exclusion else latest.bot
            bot = f"{base(latest.bot)}/{number}"
            join(self._target, self.cup, bot, latest.author, number, retires)
            return bot
        if exclusion is not None:
            raise JoinRefused(f"{latest.bot} has left; enter it anew with --new-version.")
        return latest.bot

    def _check_code(self, code: str) -> None:
        wanted = self.cup.join.code
        if wanted is None and not self.cup.join.open:
            raise JoinRefused(f"{self.cup.name} is by invitation: {_ASK}.")
        if wanted is not None and not hmac.compare_digest(code.encode(), wanted.encode()):
            refusal = "The code is wrong" if code else f"{self.cup.name} asks for a code"
            raise JoinRefused(f"{refusal}; add --code with the one that the organiser gave.")


def versions(decisions: Iterable[AnyDecision], name: str) -> list[Join]:
    """Return the decisions by which versions of a bot joined, in the order of `decisions`. `name`
    may be the name of any version."""
    joins = (decision for decision in decisions if isinstance(decision, Join))
    return [decision for decision in joins if base(decision.bot) == base(name)]


def _address() -> str:
    """Return the caller's IPv4 address or IPv6 /64 network, or "" if the address is not known. If
    the request comes through a proxy on this machine, the caller is the proxy's client."""
    caller = request.remote_addr or ""
    try:
        if parse_address(caller).is_loopback:
            caller = request.headers.get("X-Forwarded-For", caller).rpartition(",")[2].strip()
        return network_of(parse_address(caller))
    except ValueError:
        return ""


def _state(cup: Cup, now: RunView) -> str:
    bots = len(seated(cup, now.run.decisions, now.run))
    playing = ngettext("%(num)d bot plays", "%(num)d bots play", bots)
    count = _("%(playing)s, of at most %(most)d. ", playing=playing, most=cup.join.most)
    if bots >= cup.join.most:
        return count + _("The ladder is full; come again later.")
    if cup.join.open:
        return count + _("Anybody may join.")
    if cup.join.code is not None:
        return count + _("Whoever has the organiser's code may join.")
    return count + _(
        "It is by invitation: ask the organiser for a token (`stich invite`), and use"
        " `stich connect`."
    )


def qr_code(address: str) -> Markup:
    """Return the QR code of a page's address as inline SVG, without a width or a height."""
    picture = segno.make(address, micro=False).svg_inline(scale=4, light="#fff", omitsize=True)
    return Markup(picture)  # noqa: S704 - drawn from our address


def _wheel_name(program: Distribution) -> str | None:
    """Return the file name of the program's wheel, or None for an editable installation."""
    names = {str(file) for file in program.files or ()}
    return f"stich-{program.version}-py3-none-any.whl" if "stich/__init__.py" in names else None


@cache
def _wheel_of(program: Distribution) -> bytes:
    """Return a wheel of the installed files. The first call makes the wheel and caches it. It is
    pure Python, without compiled files, scripts or pip's records.

    Raises:
        OSError: if an installed file cannot be read.
    """
    about = f"stich-{program.version}.dist-info"
    contents = {f"{about}/WHEEL": _WHEEL}
    for file in program.files or ():
        name, folder = str(file), file.parts[0]
        if folder == about:
            included = file.name in _METADATA or "licenses" in file.parts
        else:
            included = folder != ".." and not name.endswith(_COMPILED)
        if included:
            contents[name] = file.read_binary()
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in contents.items()]
    record = f"{about}/RECORD"
    contents[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_DATE), data, zipfile.ZIP_DEFLATED)
    return wheel.getvalue()


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
