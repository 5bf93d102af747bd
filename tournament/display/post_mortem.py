"""Reports on faults, with the commands that repeat their requests."""

import shlex
from dataclasses import asdict
from typing import Any

from tournament.config.cup import Cup
from tournament.records import FaultRecord, MatchRecord
from tournament.text import printable_lines

PORT = 9000
_CLOCK = ("move_ms", "bank_ms")  # left out, because a replay has the clock for every move


def curl(fault: FaultRecord, command: str | None) -> str:
    """Return the curl command that repeats the request of a fault, without the bot's token.

    A bot with a `command` is expected on port 9000 of this machine. curl waits as long as the bot
    had time to answer, but at least a second. `fault` must not be from a file of matches, in which
    faults have no requests.
    """
    url = f"http://127.0.0.1:{PORT}" if command is not None else fault.url
    return (
        f"curl -sS -i --max-time {max(1.0, fault.deadline_ms / 1000):g}"
        f" -H 'Content-Type: application/json' {shlex.quote(url + '/move')} --data-binary "
        + shlex.quote(fault.request)
    )


def start_command(command: str | None) -> str | None:
    """Return the shell command, to be run in the bot's folder, that starts a bot on port 9000.
    Return None if `command` is None, as it is for a remote bot."""
    return None if command is None else f"PORT={PORT} {command}"


def post_mortem(
    record: MatchRecord, fault: FaultRecord, cup: Cup, *, show_command: bool = True
) -> str:
    """Return all details of one fault as English text, with the commands that repeat its request.

    Without `show_command`, for readers other than the organiser, leave out the command that starts
    the bot. For a file of matches, which has no requests, describe only the fault and its time.
    """
    bot = record.seating[fault.seat]
    command = cup.bot(bot).command
    answer = fault.answer
    lines = [
        f"{bot} (seat {fault.seat}), match {record.match}, request {fault.turn}: {fault.kind}",
        f"  {fault.detail}",
        f"  The default move {fault.played} was played instead.",
    ]
    if not fault.request:  # the match is from a file of matches
        lines.append(f"  took      {fault.elapsed_ms:.1f} ms; the run has request and answer")
        return "\n".join(lines)
    lines += [
        f"  asked     {fault.started} at {fault.url}/move",
        f"  took      {fault.elapsed_ms:.1f} ms of {fault.deadline_ms:.0f} ms"
        f" ({fault.move_ms} ms a move and {fault.bank_ms:.0f} ms in the bank)",
        f"  request   {fault.request}",
    ]
    if answer.status is None and not answer.body:
        lines.append("  answer    none")
    else:
        status = "no status line" if answer.status is None else f"status {answer.status}"
        lines.append(f"  answer    {status}, {answer.size} bytes of body")
        lines += _indented(answer.headers) + _indented(answer.body)
    if command is not None:
        lines.append("  output    " + ("nothing" if not fault.output else "last:"))
        lines += _indented(fault.output)
        if show_command:
            lines.append(f"  start     {start_command(command)}")
    lines.append(f"  repeat    {curl(fault, command)}")
    return "\n".join(lines)


def fault_dict(record: MatchRecord, fault: FaultRecord, cup: Cup) -> dict[str, Any]:
    """Return all details of one fault except `move_ms` and `bank_ms`, as JSON values.

    The bot's name is added, and the commands to start the bot (`start`, None for a remote bot) and
    to repeat the request (`curl`). For a file of matches, which has no requests, `url` and `curl`
    are None. `start` contains the bot's own command, so the result is for the organiser only.
    """
    bot = record.seating[fault.seat]
    command = cup.bot(bot).command
    fields = {key: value for key, value in asdict(fault).items() if key not in _CLOCK}
    return fields | {
        "bot": bot,
        "elapsed_ms": round(fault.elapsed_ms, 3),
        "url": f"{fault.url}/move" if fault.request else None,
        "start": start_command(command),
        "curl": curl(fault, command) if fault.request else None,
    }


def _indented(text: str) -> list[str]:
    """Return the lines of `text`, indented and escaped, without empty lines."""
    return ["            " + line for line in printable_lines(text).split("\n") if line]
