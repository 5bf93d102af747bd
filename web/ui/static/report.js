"use strict";
// The page of a report: opens the replay that the address names.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = $("replay");
  if (!root) return;
  const data = JSON.parse($("data").textContent);
  let replay = null;
  let shown = null; // the id of the match of the replay

  function close() {
    if (replay) replay.pause();
    replay = shown = null;
    root.hidden = true;
  }

  async function open(id, index) {
    const match = data.matches[id];
    if (!match) return;
    if (shown !== id) {
      close();
      root.hidden = false;
      replay = await Replay.open(root, match, (move) => `#match=${id}&move=${move}`);
      const { scores } = replay.positions.at(-1);
      const points = match.seats.map((bot, seat) => `${bot} ${CardTable.signed(scores[seat])}`);
      $("replay-title").textContent = `Match ${id}: ${points.join(", ")}`;
      shown = id;
    }
    replay.pause();
    replay.show(index);
    root.scrollIntoView({ block: "start" });
    $("replay-title").focus({ preventScroll: true });
  }

  function follow() {
    const found = /^#match=([^&]+)(?:&move=(\d+))?$/.exec(location.hash);
    if (found) open(decodeURIComponent(found[1]), Number(found[2] || 0));
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) {
      close();
      history.replaceState(null, "", "#matches");
    } else if (replay) replay.handle(event);
  });
  for (const kind of ["keydown", "input"]) {
    document.addEventListener(kind, (event) => { if (replay) replay.handle(event); });
  }
  addEventListener("hashchange", follow);
  follow();
})();
