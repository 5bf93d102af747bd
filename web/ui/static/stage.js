"use strict";
// The page for the projector: scales the table to the room, and marks in the top ten which bots sit
// at the table and which have moved lately.
(() => {
  const LATELY_MS = 15 * 60000;
  const LEAST_MS = 60000;
  let seats = [];
  const earlier = []; // the places of the last 15 minutes, at most once a minute

  const lines = () => [...document.querySelectorAll(".top-ten li")];

  function mark() {
    for (const line of lines()) line.classList.toggle("on", seats.includes(line.dataset.bot));
  }

  // Shrink a table that is higher than its space, because nobody scrolls.
  function fit() {
    const [shown, table] = [document.querySelector(".shown"), document.getElementById("replay")];
    for (let zoom = 1; zoom > 0.3; zoom -= 0.04) {
      table.style.zoom = zoom;
      if (shown.scrollHeight <= shown.clientHeight) return;
    }
  }

  function compare() {
    const now = Date.now();
    const places = new Map(lines().map((line) => [line.dataset.bot, Number(line.dataset.place)]));
    while (earlier.length > 1 && earlier[0].at < now - LATELY_MS) earlier.shift();
    if (!earlier.length || earlier.at(-1).at < now - LEAST_MS) earlier.push({ at: now, places });
    const was = earlier[0].places;
    for (const line of lines()) {
      const moved = (was.get(line.dataset.bot) ?? 11) - places.get(line.dataset.bot);
      const shown = line.querySelector(".moved");
      shown.className = `moved ${moved > 0 ? "up" : "down"}`;
      shown.textContent = moved ? `${moved > 0 ? "▲" : "▼"}${Math.abs(moved)}` : "";
    }
  }

  document.addEventListener("watched", ({ detail }) => { seats = detail; mark(); fit(); });
  document.addEventListener("renewed", () => { mark(); compare(); });
  compare();
})();
