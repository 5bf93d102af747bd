"use strict";
// Shows the move that the address names: of the only match on a match's page, or of a match in a
// report.
(() => {
  const root = document.getElementById("replay");
  if (!root) return;
  const matches = JSON.parse(document.getElementById("data").textContent);
  const { only } = root.dataset;
  let shown = null; // the id of the match
  const form = document.getElementById("play-on"); // not in a report
  const replay = new Replay(root, { address });

  function address(move) {
    const { turn } = replay.positions[move];
    if (form) {
      form.hidden = turn === null; // the game is over
      form.elements.move.value = move;
      form.elements.seat.value = turn ?? 0;
    }
    return only ? `#move=${move}` : `#match=${shown}&move=${move}`;
  }

  async function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const id = only ?? asked.get("match");
    const match = matches[id];
    if (!match) return;
    if (shown !== id) replay.open(match, await Replay.unpack(match));
    shown = id;
    replay.pause();
    replay.show(parseInt(asked.get("move")) || 0);
    if (only) return;
    const { scores } = replay.positions.at(-1);
    const points = match.seats.map((bot, seat) => `${bot} ${CardTable.signed(scores[seat])}`);
    const title = document.getElementById("replay-title");
    title.textContent = CardTable.say(CardTable.WORDS.match, { id, points: points.join(", ") });
    root.scrollIntoView({ block: "start" });
    title.focus({ preventScroll: true });
  }

  addEventListener("hashchange", follow);
  follow();
})();
