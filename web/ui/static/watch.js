"use strict";
// A screen in the hall: the table most worth watching, move by move, then the next one.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = $("replay");
  const PATIENCE = 8; // steps for which the result of a deal stands
  const MOVES = 150;
  const AGAIN_MS = 5000;
  const shown = []; // the matches that were shown, the last one at the end
  let replay = null;

  async function get(path) {
    const answer = await fetch(`/watch/${path}`);
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  }

  async function next() {
    try {
      const tables = await get("tables");
      if (!tables.length) $("why").textContent = "Nothing to watch yet: a table is shown when all matches with its cards have ended.";
      // The best that was not shown; when all were, the one that was shown longest ago.
      const [table] = tables.sort((one, other) => shown.lastIndexOf(one.match) - shown.lastIndexOf(other.match));
      if (table) return await show(table);
    } catch {
      // The server is away, or the match was declared void; the next look may find one.
    }
    setTimeout(next, AGAIN_MS);
  }

  async function show({ match, why, ago }) {
    shown.push(match);
    const data = await get(match);
    if (replay) replay.pause();
    replay = await Replay.open(root, data, null, PATIENCE, () => { replay.pause(); next(); });
    $("title").textContent = data.seats.join(" – ");
    $("ago").textContent = `ended ${ago}`;
    $("why").textContent = why;
    root.hidden = false;
    // The last deals of a long match.
    const begins = replay.positions.map((one) => one.start);
    replay.show(begins.find((at) => begins.length - at <= MOVES) ?? begins.at(-1), false, false);
    replay.play();
  }

  for (const kind of ["click", "keydown", "input"]) {
    document.addEventListener(kind, (event) => { if (replay) replay.handle(event); });
  }
  next();
})();
