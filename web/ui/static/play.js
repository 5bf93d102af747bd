"use strict";
// A person's game. The person chooses cards on the table, or a bid, and the server says what is legal
// and why. Each move is a frame, which is shown for a while before the next frame.
(() => {
  const { WORDS, make, say: sayWith, count, card, move } = CardTable;
  const $ = (id) => document.getElementById(id);
  const OWN = JSON.parse($("own-words").textContent); // of play.html
  const here = location.pathname;
  const EVERY_MS = 400;
  const HEARTBEAT_MS = 5000;
  let now = JSON.parse($("data").textContent);
  let shown = now.frames.at(-1); // the frame on the table
  let waiting = []; // frames that are still to be shown
  let result = Boolean(shown.ended); // whether the result of a deal covers the table
  let paused = false;
  let asking = false; // whether a move is on its way to the server
  let chosen = []; // indices of cards in the hand
  let options; // what can be done with the chosen cards, as the server answers
  let asked = 0; // the number of the latest choice
  let left = false; // whether the server has ended the game
  let wake = () => {};

  const table = { seats: now.seats, own: now.own, clockwise: now.clockwise, most: [], groups: 1, drawOwn };

  async function ask(path, body) {
    const request = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
    const answer = await Live.ask(`${here}/${path}`, request).catch(() => null);
    if (answer?.ok) return answer.json();
    left = answer?.status === 404;
    const said = $("said");
    const words = left ? said.dataset.left : said.dataset.failed;
    if (said.textContent !== words) said.textContent = words;
    throw new Error("The arena has not done this.");
  }

  const names = () => CardTable.cards(shown.hands[now.own]);
  const over = () => shown.turn === null;
  const own = () => now.asked && !waiting.length && !result;

  function drawOwn(name, index) {
    const on = chosen.includes(index);
    const button = card(name, "button", { type: "button", "data-card": index, "aria-pressed": String(on) });
    if (on) button.classList.add("chosen");
    if (own() && options.lit.includes(name) && !on) button.classList.add("legal");
    if (!own()) button.disabled = true;
    return button;
  }

  function draw() {
    const focused = document.activeElement?.dataset?.card;
    table.most = shown.hands.map((hand, seat) => Math.max(CardTable.cards(hand).length, table.most[seat] ?? 0));
    table.groups = Math.max(table.groups, shown.hands[now.own].split(" ").length);
    CardTable.draw($("table"), table, shown, result ? resultBox() : null);
    if (focused !== undefined) document.querySelector(`[data-card="${focused}"]`)?.focus();
    const buttons = own() ? choices() : [];
    if (own() && chosen.length) buttons.push(make("button", { type: "button", "data-clear": "" }, OWN.clear));
    if (over() && !result) buttons.push(make("a", { href: "/play" }, OWN.another));
    $("actions").replaceChildren(...buttons);
  }

  // The buttons of the moves, the main one first.
  function choices() {
    const others = now.others.map((text) => action(text, !now.verb && now.others.length === 1 ? "strong" : null));
    if (!now.verb) return others;
    const plays = options.moves.map((text) => action(text, "strong"));
    if (!plays.length) plays.push(make("button", { type: "button", class: "strong", disabled: "" }, sayWith(OWN.verbs[now.verb], { what: "…" })));
    return [...plays, ...others];
  }

  function action(text, kind = null) {
    return make("button", { type: "button", "data-move": text, class: kind }, move(text, OWN.verbs));
  }

  function resultBox() {
    const points = shown.ended.scores[now.own];
    const title = points ? count(points > 0 ? OWN.won : OWN.lost, Math.abs(points)) : OWN.even;
    return CardTable.result(table, shown.ended, title, make("button", { type: "button", "data-on": "" }, over() ? OWN.end : WORDS.nextDeal));
  }

  // Show a sentence, with the cards in place of moves as bots write them.
  function say(text) {
    const parts = text.split(/((?:call|discard|give|play):(?:[2-9TJQKA][cdhs]|[BR]j)+)/);
    const plain = { call: "{what}", discard: "{what}", give: "{what}", play: "{what}" };
    $("said").replaceChildren(...parts.map((part, index) => (index % 2 ? move(part, plain) : part)));
  }

  async function choose(index) {
    chosen = chosen.includes(index) ? chosen.filter((other) => other !== index) : [...chosen, index];
    const number = ++asked;
    const cards = chosen.map((index) => names()[index]);
    options = { moves: [], why: "", lit: [] }; // until the answer comes
    draw();
    const answer = chosen.length ? await ask("choose", { cards }) : { moves: [], why: "", lit: now.lit };
    if (number !== asked) return; // the person has chosen another card meanwhile
    options = answer;
    draw();
    say(chosen.length && !answer.moves.length ? answer.why : now.task);
  }

  function begin(text) {
    chosen = [];
    asked++;
    options = { moves: [], why: "", lit: now.lit };
    draw();
    say(text);
  }

  function news() {
    if (!over()) return [shown.said, own() ? now.task : ""].join(" ").trim();
    const { scores } = shown;
    const first = now.seats.filter((_, seat) => scores[seat] === Math.max(...scores));
    return sayWith(first.length > 1 ? OWN.winners : OWN.winner, { names: first.join(", ") });
  }

  function list() {
    const lines = shown.moves.map(([seat, text], index) => [index + 1, now.seats[seat], move(text)].map((part) => make("span", {}, part)));
    $("moves").replaceChildren(...lines.map((parts) => make("li", {}, make("div", {}, ...parts))));
    $("moves").scrollTop = $("moves").scrollHeight;
  }

  function show(frame) {
    shown = frame;
    result = Boolean(frame.ended);
    begin(news());
    list();
    if (result) document.querySelector("[data-on]").focus();
  }

  const rest = (ms) => new Promise((resolve) => {
    wake = resolve;
    setTimeout(resolve, ms);
  });

  async function follow() {
    while (!left && (!over() || waiting.length)) {
      if (!waiting.length && !own() && !result) {
        const then = await ask(`position?after=${shown.number}`).catch(() => null); // the page says so already
        if (then) now = then;
        waiting = then?.frames ?? [];
        if (then && own()) begin(news());
      }
      const next = !paused && !result && waiting.shift();
      if (next) show(next);
      await rest(next ? Number($("pace").value) : EVERY_MS);
    }
  }

  async function play(text) {
    if (asking) return;
    asking = true;
    const answer = await ask("move", { move: text }).catch(() => null);
    asking = false;
    now.asked = false; // `follow` asks what has happened: the answer may be lost, or the page old
    draw();
    if (answer?.why) say(answer.why);
    wake();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) {
      if (event.target.closest(".felt")) wake(); // a tap skips the wait
    } else if (button.dataset.card !== undefined) choose(Number(button.dataset.card));
    else if (button.dataset.clear !== undefined) begin(now.task);
    else if (button.dataset.move) play(button.dataset.move);
    else if (button.dataset.on !== undefined) {
      result = false;
      begin(news());
      wake();
    } else if (button.id === "pause") {
      paused = !paused;
      button.setAttribute("aria-pressed", String(paused));
      button.textContent = paused ? OWN.goOn : WORDS.pause;
    }
  });
  CardTable.colours($("suits"));
  begin(news());
  list();
  follow();
  // While the person thinks, nothing else would notice that the arena does not answer.
  setInterval(() => { if (own() && !left) Live.ask("/healthz").catch(() => {}); }, HEARTBEAT_MS);
})();
