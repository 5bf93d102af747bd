import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.support.tournament import played
from tests.support.tournament.cups import stich, succeed
from tournament.config.cup import Cup
from tournament.records import Disqualify, MatchRecord, Outage, place_of
from tournament.results.verify import verify
from tournament.store import rows
from tournament.store.chain import Chain, Digest, keep_receipt, read_receipts
from tournament.store.store import Store
from tournament.store.tables import details, matches

CUP = played.cup()
SEEN = 4  # matches before the receipt
Run = tuple[Cup, list[MatchRecord], int]  # the last: how many matches before a disqualification


@pytest.fixture(scope="module")
def honest() -> Run:
    return CUP, list(played.played(CUP)), 5


@pytest.fixture(autouse=True)
def one_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs have the same id, as a forger would choose it."""
    monkeypatch.setattr("secrets.token_hex", lambda size: "5a" * size)


def make(folder: Path, run: Run) -> Digest:
    """Make a finished run; return the digest that was to be seen after some matches."""
    cup, records, judged = run
    receipt = Digest()
    with played.unfinished(folder, cup) as store:
        for number, record in enumerate(records):
            if number == SEEN:
                receipt = store.digest()
            if number == judged:
                store.decide(Disqualify(bot="cat", why="A test."))
            store.add(record)
        store.finish()
    return receipt


def test_a_rewritten_run_agrees_but_misses_the_receipt(honest: Run, tmp_path: Path) -> None:
    cup, records, judged = honest
    receipt = make(tmp_path / "seen", honest)
    other = next(iter(played.played(CUP, {"cat": 12})))
    for what, run, missed in (
        ("nothing", honest, 0),
        ("what came later", (cup, records, 6), 0),
        ("moves", (cup, [other, *records[1:]], judged), 1),
        ("a disqualification, backdated", (cup, records, 2), 1),
        ("the order of matches", (cup, [*records[1::-1], *records[2:]], judged), 1),
        ("the cup", (replace(cup, name="Another cup"), records, judged), 1),
    ):
        make(tmp_path / what, run)
        with Store.open(tmp_path / what) as store:
            assert verify(store).mismatches == []
            mismatches = verify(store, receipts=[receipt]).mismatches
        misses = ["does not pass through the receipt" in item.detail for item in mismatches]
        assert misses == [True] * missed, what


def backdate(chain: Chain, _: MatchRecord) -> None:
    rows.append(chain, Disqualify(bot="cat", at="2026-01-01T00:00:00", after=0))


def delete(chain: Chain, record: MatchRecord) -> None:
    for table in (details, matches):
        chain.connection.execute(sa.delete(table).where(table.c.match == record.match))


def remove(chain: Chain, record: MatchRecord) -> None:
    facts = place_of(record) | {"started": record.started, "ended": record.started}
    rows.append(chain, Outage(**facts, bot="cat", why="It was away."))
    delete(chain, record)


def write_again(chain: Chain, record: MatchRecord) -> None:
    delete(chain, record)
    rows.insert_matches(chain, [record])


def test_later_entries_hide_no_earlier_change(honest: Run, tmp_path: Path) -> None:
    for forge, says in (
        (backdate, "Decision 2 says that 0 matches were finished before; it"),
        (remove, "The store lacks what entry "),
        (write_again, "The store lacks what entry "),
    ):
        make(tmp_path / forge.__name__, honest)
        with Store.open(tmp_path / forge.__name__) as store:
            with store._write() as connection:
                chain = Chain(connection)
                forge(chain, honest[1][0])
                store._seal(chain)
            assert store.is_signed()
            assert any(item.detail.startswith(says) for item in verify(store).mismatches)


def test_verify_checks_receipts(honest: Run, tmp_path: Path) -> None:
    receipt = "{}:{}".format(*make(tmp_path / "run", honest))
    file = tmp_path / "receipts"
    file.write_text(f"# arena\n{receipt} 2026-11-23\n")
    jsonl = tmp_path / "run.jsonl"
    succeed("export", tmp_path / "run", "--format", "matches", "-o", jsonl)
    for target, given, code, says in (
        ("run", (receipt,), 0, "passes through 1 receipt."),
        ("run", (file, receipt.upper()), 0, "passes through 2 receipts."),
        ("run", (receipt[:-1] + ("0" if receipt[-1] != "0" else "1"),), 1, "that of another run."),
        ("run", (f"999:{receipt[-64:]}",), 1, " entries agree."),
        ("run", ("0:00",), 2, "write a number, a colon and 64 hexadecimal digits"),
        ("run", (jsonl,), 2, "neither a receipt nor a file of receipts"),
        ("run.jsonl", (receipt,), 2, "--receipt needs a run: a file of matches has no entries"),
    ):
        words = [word for receipts in given for word in ("--receipt", receipts)]
        done = stich("verify", tmp_path / target, *words)
        text = " ".join((done.stdout + done.stderr).replace("│", "").split())
        assert (done.returncode, says in text) == (code, True), text


def test_a_file_has_few_receipts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournament.store.chain.MOST", 8)
    path = tmp_path / "receipts"
    for number in range(1, 101):
        for _ in range(2):
            keep_receipt(path, "Cup ann", Digest(number, "0" * 64), "2026-11-23")
    entries = [receipt.entries for receipt in read_receipts(path)]
    assert (entries, len(entries) <= 8) == (sorted(set(entries)), True)
    assert (entries[0], entries[-1]) == (1, 100)
    assert path.read_text().startswith("# Cup ann\n")


def test_a_damaged_page_is_found(honest: Run, tmp_path: Path) -> None:
    """In an index that no check of the rows needs."""
    make(tmp_path, honest)
    path = tmp_path / "run.sqlite"
    with sqlite3.connect(path) as database:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_blocks_round'"
        (root,) = database.execute(query).fetchone()
    database.close()
    data = bytearray(path.read_bytes())
    assert data[root * 4096 - 1] == 9  # that the row of the first entry is row 1
    data[root * 4096 - 1] = 8
    path.write_bytes(data)
    with Store.open(tmp_path) as store:
        (mismatch,) = verify(store).mismatches
    assert mismatch.detail.startswith("The file is damaged: ")
