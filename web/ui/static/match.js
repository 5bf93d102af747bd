"use strict";
// The page of a match: a replay that begins at the move that the address names.
(async () => {
  const match = JSON.parse(document.getElementById("data").textContent);
  const replay = await Replay.open(document.getElementById("replay"), match, (move) => `#move=${move}`);
  const follow = () => replay.show(Number((/^#move=(\d+)$/.exec(location.hash) || [0, 0])[1]));
  for (const kind of ["click", "keydown", "input"]) {
    document.addEventListener(kind, (event) => replay.handle(event));
  }
  addEventListener("hashchange", () => { replay.pause(); follow(); });
  follow();
})();
