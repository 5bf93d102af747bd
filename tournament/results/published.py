"""The signed list of a published run's files, and the check of the files against that list."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from tournament.results.files.export import export
from tournament.store.reader import StoreReader
from tournament.store.signing import SigningKey, is_signed

RESULTS_FILE = "results.csv"
ANNOUNCEMENT_FILE = "ANNOUNCEMENT.txt"
_SUMS_FILE = "SHA256SUMS"
_SIGNATURE_FILE = "SHA256SUMS.sig"
_PUBLISHED = (RESULTS_FILE, ANNOUNCEMENT_FILE, _SUMS_FILE, _SIGNATURE_FILE)
_MOST = 1 << 20  # at most this much of a list is read, more than any folder needs


def sign_files(folder: Path, run: str, key: SigningKey) -> dict[str, str]:
    """Write a list of the files in a folder that is about to be published, and sign the list.

    The list and the signature become files in the folder, which must contain neither of them yet,
    nor any subfolder. `run` is the run's id. Return each listed file's SHA-256 in hex, by name.

    Raises:
        OSError: if a file cannot be read or written.
    """
    files = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    sums = "".join(f"{digest}  {name}\n" for name, digest in files.items())
    (folder / _SUMS_FILE).write_text(sums, encoding="utf-8")
    (folder / _SIGNATURE_FILE).write_text(key.sign(_signed(run, sums)) + "\n", encoding="ascii")
    return files


def file_mismatches(store: StoreReader, folder: Path) -> Iterator[str]:
    """Yield a sentence for each file of a published run that is missing, added or changed.

    `folder` has the store and the published files. Also yield a sentence if the organiser has not
    signed the list, and if the results file does not have the results of the run. If the list or
    its signature is missing, do not compare the other files with the list. If the folder has none
    of the files that every published run has, yield nothing.

    Raises:
        StoreError: during iteration, if the store cannot be read.
        OSError: during iteration, if the folder or one of its files cannot be read, or a temporary
            file cannot be written.
    """
    present = {path.name: path for path in folder.iterdir()}
    if not present.keys() & {*_PUBLISHED}:
        return
    missing = [name for name in _PUBLISHED if not (folder / name).is_file()]
    for name in missing:
        yield f"{name} is missing, which every published run has."
    if not {_SUMS_FILE, _SIGNATURE_FILE} & {*missing}:
        run = store.run()
        sums, signature = (_text(present[name]) for name in (_SUMS_FILE, _SIGNATURE_FILE))
        if not is_signed(_signed(run.id, sums), signature.strip(), run.signer):
            yield f"{_SUMS_FILE} is not the list that was signed by {run.signer}."
        listed = dict(line.split("  ", 1)[::-1] for line in sums.splitlines() if "  " in line)
        for name in sorted((present.keys() | listed.keys()) - {_SUMS_FILE, _SIGNATURE_FILE}):
            if name not in listed:
                yield f"{name} is not in {_SUMS_FILE}, so it was added since; move it away."
            elif name not in present:
                if name not in missing:
                    yield f"{name} is missing; {_SUMS_FILE} has it."
            elif not present[name].is_file() or _sha256(present[name]) != listed[name]:
                yield f"{name} is not the file that was published: it was changed since."
    if RESULTS_FILE not in missing:
        with TemporaryFile() as expected:
            export(store, "csv", expected)
            expected.seek(0)
            digest = hashlib.file_digest(expected, "sha256").hexdigest()
        if digest != _sha256(present[RESULTS_FILE]):
            yield f"{RESULTS_FILE} does not have the results of the run."


def _signed(run: str, sums: str) -> bytes:
    return f"stich files {run}\n{sums}".encode()


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MOST).decode("utf-8", "replace")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
