"use strict";
// A screen in the hall: the table most worth watching, move by move, then the next one.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = $("replay");
  const PATIENCE = 8; // steps for which the result of a deal stands
  const MOVES = 150;
  const AGAIN_MS = 5000;
  const shown = []; // the matches that were shown, the last one at the end
  let live = null; // the match that is shown while it is played, and how many of its steps are known
  let looking = false;
  let replay = null;

  async function get(path) {
    const answer = await fetch(`/watch/${path}`);
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  }

  // Called at the beginning, and again and again once all that is known was shown.
  async function next() {
    if (looking) return;
    looking = true;
    try {
      await look();
    } catch {
      // The server is away, or the match was declared void; the next look may find one.
    }
    looking = false;
    if (!replay) setTimeout(next, AGAIN_MS);
  }

  async function look() {
    const now = await get("live");
    const before = live;
    live = before && before.match !== now?.match ? null : now;
    if (live) {
      const opened = await Replay.open(root, now, null, PATIENCE, next);
      live.known = opened.positions.length;
      const known = before ? before.known : live.known - 1;
      if (live.known > known) play(opened, "being played", live.why, known - 1);
    } else if (before) {
      await show({ ...before, ago: "just now" }, before.known - 1); // the rest, with all hands
    } else {
      const tables = await get("tables");
      if (!tables.length) $("why").textContent = "Nothing to watch yet: a table is shown when all matches with its cards have ended.";
      // The best that was not shown; when all were, the one that was shown longest ago.
      const [table] = tables.sort((one, other) => shown.lastIndexOf(one.match) - shown.lastIndexOf(other.match));
      if (table) await show(table);
    }
  }

  async function show({ match, why, ago }, from) {
    shown.push(match);
    const opened = await Replay.open(root, await get(match), null, PATIENCE, next);
    // The last deals of a long match.
    const last = opened.begins.find((at) => opened.positions.length - at <= MOVES) ?? opened.begins.at(-1);
    play(opened, `ended ${ago}`, why, from ?? last);
  }

  function play(opened, ago, why, at) {
    if (replay) replay.pause();
    replay = opened;
    $("title").textContent = replay.table.seats.join(" – ");
    $("ago").textContent = ago;
    $("why").textContent = why;
    root.hidden = false;
    replay.show(Math.min(at, replay.positions.length - 2), false, false); // at the end it would begin anew
    replay.play();
  }

  for (const kind of ["click", "keydown", "input"]) {
    document.addEventListener(kind, (event) => { if (replay) replay.handle(event); });
  }
  next();
})();
