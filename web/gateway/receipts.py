"""Receipts for the author of a connected bot: the digests that the pages of an arena show."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tournament.results.receipts import ReceiptFile
from tournament.store.engine import StoreError
from web.gateway.calls import ask_digest

_PERIOD_S: Final = 60


class ReceiptKeeper:
    """Asks the arena at `url` for the run's digest every minute, and appends each new digest to a
    file. `token` is the bot's token. `say` is called with sentences for the author."""

    def __init__(self, url: str, token: str, say: Callable[[str], None]) -> None:
        self._url = url
        self._token = token
        self._say = say
        self._file: ReceiptFile | None = None
        self._has_receipt = False
        self._ended = threading.Event()
        self._asking = threading.Lock()

    def begin(self, cup: str, bot: str) -> None:
        """Start a thread that asks for receipts and keeps them in a file for the bot in this cup.
        If the file cannot be set up, tell the author. Later calls do nothing."""
        if self._file is None and not self._ended.is_set():
            try:
                self._file = ReceiptFile(self._url, self._token, f"{self._url} {cup} {bot}")
            except StoreError as error:
                self._fail(error)
            else:
                threading.Thread(target=self._run, args=(self._file,), daemon=True).start()

    def end(self) -> None:
        """Ask for the last receipt, because the cup is over. Tell the author if the run provided no
        receipt at all. Later calls do nothing."""
        if self._file is not None and not self._ended.is_set():
            self._ended.set()
            self._ask(self._file)
            if not self._has_receipt:
                self._say(f"The pages at {self._url} gave no receipt of the run.")

    def _run(self, file: ReceiptFile) -> None:
        """Ask for a receipt every minute, until the cup is over or the file cannot be written."""
        self._ask(file)
        while not self._ended.wait(_PERIOD_S):
            self._ask(file)

    def _ask(self, file: ReceiptFile) -> None:
        """Ask for a receipt once, and add it to the file. Without an answer, nothing is lost,
        because the next receipt covers the same matches."""
        with self._asking:
            receipt = ask_digest(self._url)
            if receipt is None:
                return
            try:
                file.add(receipt, datetime.now(UTC).isoformat(timespec="seconds"))
            except StoreError as error:
                self._fail(error)
            else:
                if not self._has_receipt:
                    self._has_receipt = True
                    self._say(f"Receipts of the run are kept in {file.path}.")

    def _fail(self, error: StoreError) -> None:
        """Stop asking, and tell the author why."""
        self._ended.set()
        self._say(f"No receipts are kept: {error}")
