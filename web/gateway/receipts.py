"""Receipts for the author of a connecting bot: the digests that the pages of an arena show."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tournament.store.digests import keep_receipt, receipts_path
from tournament.store.engine import StoreError
from web.gateway.calls import ask_digest

_PERIOD_S: Final = 60


class ReceiptKeeper:
    """Asks the arena at `url` for the run's digest every minute, and appends new digests to a file
    for `url` and the bot's `token`. `say` is called in another thread with messages, which also
    report errors."""

    def __init__(self, url: str, token: str, say: Callable[[str], None]) -> None:
        self._url = url
        self._token = token
        self._say = say
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    def begin(self, cup: str, bot: str) -> None:
        """Start, on the first call only, a thread that keeps receipts for this bot in this cup."""
        if self._thread is None:
            what = f"{self._url} {cup} {bot}"
            self._thread = threading.Thread(target=self._run, args=(what,), daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Make the thread, if there is one, ask for a last receipt, and wait until the thread has
        ended. Each wait for the arena is limited to three seconds."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, what: str) -> None:
        has_receipt, is_last = False, False
        try:
            path = receipts_path(self._url, self._token)
            while True:
                if receipt := ask_digest(self._url):
                    now = datetime.now(UTC).isoformat(timespec="seconds")
                    keep_receipt(path, what, receipt, now)
                    if not has_receipt:
                        self._say(f"Receipts of the run are kept in {path}.")
                    has_receipt = True
                if is_last:
                    break
                is_last = self._ended.wait(_PERIOD_S)
        except StoreError as error:
            self._say(f"No receipts are kept: {error}")
        else:
            if not has_receipt:
                self._say(f"The pages at {self._url} gave no receipt of the run.")
