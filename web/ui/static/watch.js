"use strict";
// A screen in the hall: the table most worth watching, move by move, then the next one.
(() => {
  const $ = (id) => document.getElementById(id);
  const { liveWords, endedWords } = $("when").dataset;
  const PATIENCE = 8; // steps for which the result of a deal stands
  const MOVES = 150;
  const AGAIN_MS = 5000;
  const REMEMBERED = 30; // more than there are tables to choose among
  const replay = new Replay($("replay"), { patience: PATIENCE, finished: next });
  let shown = []; // the matches that were shown, the last one at the end
  let live = ""; // the match that is shown while it is played
  let looking = false;

  // Called at the beginning, and again and again once all that is known was shown.
  async function next() {
    if (looking) return;
    looking = true;
    try {
      await look();
    } catch {
      // The server is away; the next look may find it.
    }
    looking = false;
    if (!replay.positions) setTimeout(next, AGAIN_MS);
  }

  async function look() {
    const answer = await Live.ask(`/watch/next?${new URLSearchParams({ live, shown })}`);
    const now = await answer.json();
    $("why").textContent = now?.why ?? $("why").dataset.nothing;
    if (!now) return;
    const steps = await Replay.unpack(now);
    const known = now.match === live ? replay.positions.length : 0;
    if (now.live && steps.length === known) return;
    shown = [...shown.filter((match) => match !== now.match), now.match].slice(-REMEMBERED);
    live = now.live ? now.match : "";
    replay.open(now, steps);
    // The moves that are new; of a match that has ended its last deals.
    const deals = replay.begins.find((at) => steps.length - at <= MOVES) ?? replay.begins.at(-1);
    const from = known ? known - 1 : now.live ? steps.length : deals;
    $("title").textContent = now.seats.join(" – ");
    const time = CardTable.make("time", { datetime: now.ended ?? "", "data-ago": endedWords });
    $("when").replaceChildren(now.live ? liveWords : time);
    Live.showTimes($("when"));
    replay.show(Math.min(from, steps.length - 2), false, false); // at the end it would begin anew
    replay.play();
    document.dispatchEvent(new CustomEvent("watched", { detail: now.seats }));
  }

  next();
})();
