"use strict";
// A person's game: choose cards on the table, or a bid; the server says what is legal and why.
(() => {
  const { make, card, move } = CardTable;
  const $ = (id) => document.getElementById(id);
  const VERBS = { bid: "Bid ", call: "Call ", discard: "Discard ", give: "Give ", pass: "Pass", play: "Play ", trump: "Trumps: " };
  const here = location.pathname;
  let now = JSON.parse($("data").textContent);
  let chosen = []; // indices of cards in the hand
  let options; // what the chosen cards are
  let asked = 0;

  async function ask(path, body) {
    const request = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
    const answer = await fetch(`${here}/${path}`, { cache: "no-store", ...request });
    if (answer.ok) return answer.json();
    $("said").textContent = answer.status === 404 ? "The game has ended: it was left for too long." : "The server does not answer; reload the page.";
    throw new Error(answer.status);
  }

  const hand = () => CardTable.cards(now.position.hands[0]);
  const own = () => now.position.turn === 0;

  function ownHand(names) {
    const row = make("div", { class: "hand" });
    names.forEach((name, index) => {
      const on = chosen.includes(index);
      const lit = own() && options.lit.includes(name) && !on;
      const button = card(name, "button", { type: "button", "data-card": index, "aria-pressed": String(on) });
      if (on) button.classList.add("chosen");
      if (lit) button.classList.add("legal");
      if (!own()) button.disabled = true;
      row.append(button);
    });
    return row;
  }

  function draw() {
    const focused = document.activeElement?.dataset?.card;
    const table = { seats: now.seats, own: 0, clockwise: now.clockwise, ownHand };
    CardTable.draw($("table"), table, now.position);
    if (focused !== undefined) document.querySelector(`[data-card="${focused}"]`)?.focus();
    const buttons = now.others.map((text) => action(text));
    for (const text of options.moves) buttons.unshift(action(text, "strong"));
    $("actions").replaceChildren(...buttons);
    if (chosen.length && own()) $("actions").append(make("button", { type: "button", "data-clear": "" }, "Take back the choice"));
  }

  function action(text, kind = null) {
    return make("button", { type: "button", "data-move": text, class: kind }, move(text, VERBS));
  }

  // A sentence of the rules names moves as bots write them; a person sees the cards.
  function say(text) {
    const parts = text.split(/((?:call|discard|give|play):(?:[2-9TJQKA][cdhs]|[BR]j)+)/);
    const plain = { call: "", discard: "", give: "", play: "" };
    $("said").replaceChildren(...parts.map((part, index) => (index % 2 ? move(part, plain) : part)));
  }

  async function choose(index) {
    chosen = chosen.includes(index) ? chosen.filter((one) => one !== index) : [...chosen, index];
    const number = ++asked;
    const names = chosen.map((one) => hand()[one]);
    const answer = chosen.length ? await ask("choose", { cards: names }) : { moves: [], why: "", lit: now.lit };
    if (number !== asked) return; // the person has chosen on
    options = answer;
    draw();
    say(chosen.length && !answer.moves.length ? answer.why : "");
  }

  function begin(text) {
    chosen = [];
    options = { moves: [], why: "", lit: now.lit };
    draw();
    say(text);
  }

  const news = () => now.said || (own() ? "It is your turn." : "");

  function take(next) {
    const changed = next.moves !== now.moves;
    now = next;
    if (changed) begin(news());
    if (now.position.turn === null) {
      const best = Math.max(...now.position.scores);
      const first = now.seats.filter((_, seat) => now.position.scores[seat] === best);
      say(`The game is over. ${first.length > 1 ? "Winners" : "Winner"}: ${first.join(", ")}.`);
      $("actions").replaceChildren(make("a", { href: "/play" }, "Play another game"));
    }
  }

  async function follow() {
    try {
      if (!own() && now.position.turn !== null) take(await ask("position"));
    } catch {
      return; // said already
    }
    if (now.position.turn !== null) setTimeout(follow, 400);
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.card !== undefined) await choose(Number(button.dataset.card));
    else if (button.dataset.clear !== undefined) begin("");
    else if (button.dataset.move) {
      const answer = await ask("move", { move: button.dataset.move });
      if (answer.why) say(answer.why);
      else take(answer);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && options.moves.length === 1 && event.target.dataset.card !== undefined) {
      event.preventDefault();
      document.querySelector("[data-move].strong")?.click();
    }
  });
  begin(news());
  follow();
})();
