"use strict";
// Shows the match most worth watching move by move, and then the next match, without end.
(() => {
  const $ = (id) => document.getElementById(id);
  const { liveWords, endedWords } = $("when").dataset;
  const PATIENCE = 8; // steps for which the result of a deal stays
  const MOVES = 150; // of a finished match, the last deals with at most so many moves are shown
  const AGAIN_MS = 5000;
  const REMEMBERED = 30; // more than the server chooses among
  const replay = new Replay($("replay"), { patience: PATIENCE, finished: next });
  let shown = []; // the ids of the matches shown before, latest last
  let live = ""; // the id of the match in progress that is shown
  let looking = false;

  // Called first, and whenever all known steps have been shown.
  async function next() {
    if (looking) return;
    looking = true;
    try {
      await look();
    } catch {
      // The server does not answer, which the page says already.
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
    // Begin with the new moves, or with the last deals of a match that has ended.
    const deals = replay.begins.find((at) => steps.length - at <= MOVES) ?? replay.begins.at(-1);
    const from = known ? known - 1 : now.live ? steps.length : deals;
    $("title").textContent = now.seats.join(" – ");
    const time = now.ended ? CardTable.make("time", { datetime: now.ended, "data-ago": endedWords }) : "";
    $("when").replaceChildren(now.live ? liveWords : time);
    Live.showTimes($("when"));
    replay.show(Math.min(from, steps.length - 2), false, false); // at the last step, `play` would begin again
    replay.play();
    document.dispatchEvent(new CustomEvent("watched", { detail: now.seats }));
  }

  next();
})();
