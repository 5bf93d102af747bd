"use strict";
// The replay that the address names: of the only match of a page, or in a report of one of many.
(() => {
  const root = document.getElementById("replay");
  if (!root) return;
  const matches = JSON.parse(document.getElementById("data").textContent);
  const { only } = root.dataset;
  let replay = null;
  let shown = null; // the id of the match of the replay

  async function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const id = only ?? asked.get("match");
    const match = matches[id];
    if (!match) return;
    if (shown !== id) {
      if (replay) replay.pause();
      replay = await Replay.open(root, match, (move) => (only ? `#move=${move}` : `#match=${id}&move=${move}`));
      shown = id;
    }
    replay.pause();
    replay.show(parseInt(asked.get("move")) || 0);
    if (only) return;
    const { scores } = replay.positions.at(-1);
    const points = match.seats.map((bot, seat) => `${bot} ${CardTable.signed(scores[seat])}`);
    const title = document.getElementById("replay-title");
    title.textContent = `Match ${id}: ${points.join(", ")}`;
    root.hidden = false;
    root.scrollIntoView({ block: "start" });
    title.focus({ preventScroll: true });
  }

  for (const kind of ["click", "keydown", "input"]) {
    document.addEventListener(kind, (event) => { if (replay) replay.handle(event); });
  }
  addEventListener("hashchange", follow);
  follow();
})();
