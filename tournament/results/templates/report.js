"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
  const WORDS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
  const RANKS = { T: "10", J: "jack", Q: "queen", K: "king", A: "ace" };
  let match = null; // { id, seats, positions }
  let at = 0;
  let timer = 0;

  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    if (text !== null) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  const cards = (text) => text.match(/../g) || [];

  function card(name) {
    if (name[1] === "j") {
      const big = name[0] === "R";
      const label = big ? "big joker" : "small joker";
      return make("span", "★" + (big ? "R" : "B"), { class: big ? "card red" : "card", title: label, "aria-label": label, role: "img" });
    }
    const label = (RANKS[name[0]] || name[0]) + " of " + WORDS[name[1]];
    const shown = (name[0] === "T" ? "10" : name[0]) + SUITS[name[1]];
    const red = name[1] === "d" || name[1] === "h";
    return make("span", shown, { class: red ? "card red" : "card", title: label, "aria-label": label, role: "img" });
  }

  function row(text) {
    const line = make("div", null, { class: "hand" });
    cards(text).forEach((name) => line.append(card(name), document.createTextNode("\u200b")));
    return line;
  }

  // A move for people: the verb before the colon, then the cards.
  function move(text) {
    const span = make("span", null);
    const found = /^(play|give|discard|call):((?:[2-9TJQKABR][cdhsj])+)(=.*)?$/.exec(text);
    if (!found) {
      span.textContent = text.replace(":", " ").replace(/^trump (.)$/, (_, suit) => "trump " + WORDS[suit]);
      return span;
    }
    if (found[1] !== "play") span.append(found[1] + " ");
    cards(found[2]).forEach((name) => span.append(card(name)));
    if (found[3]) span.append(" " + found[3].slice(1));
    return span;
  }

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  // Steps hold what changed; positions hold everything.
  function positions(steps) {
    const found = [];
    let now = {};
    let start = 0; // the index of the position before the deal's first move
    let last = [];
    for (const [index, step] of steps.entries()) {
      const { move: moved = null, ended = null, hands, ...rest } = step;
      const before = now;
      now = { ...before, ...rest, moved, ended };
      if (hands) now.hands = hands.map((hand, seat) => (hand === null ? before.hands[seat] : hand));
      if (moved) {
        last = last.slice();
        last[moved[0]] = moved[1];
      }
      now.start = start;
      now.last = last;
      found.push(now);
      // The next deal begins in the step that ends this one.
      if (index === 0 || now.deal !== before.deal) {
        start = index;
        last = [];
      }
    }
    return found;
  }

  const signed = (value) => (value > 0 ? "+" : "") + value;
  const name = (seat) => match.seats[seat];

  function show(index, speak = true) {
    at = Math.max(0, Math.min(index, match.positions.length - 1));
    const now = match.positions[at];
    $("at").value = at;
    $("where").textContent = `${at} / ${match.positions.length - 1}`;
    const line = $("move-text");
    line.setAttribute("aria-live", speak ? "polite" : "off");
    line.replaceChildren();
    if (now.moved) {
      const [seat, text, time, fault, isDefault] = now.moved;
      line.append(`${name(seat)}: `, move(text));
      if (isDefault && !fault) line.append(" (default move: the bot is struck out)");
      if (fault) line.append(make("span", ` – default move after a fault. ${fault}`, { class: "fault" }));
      if (time !== null) line.append(make("small", `  ${time} ms`));
      if (now.ended) line.append(` The deal is over: ${now.ended.map((p, s) => `${name(s)} ${signed(p)}`).join(", ")}.`);
    } else {
      line.append("The cards are dealt.");
    }
    const notes = [`Deal ${now.deal}, ${now.phase}`, ...now.notes];
    $("notes").textContent = notes.join(" · ");
    $("seats").replaceChildren(...match.seats.map((bot, seat) => {
      const box = make("div", null, { class: now.turn === seat ? "seat turn" : "seat" });
      const head = make("div", null, {});
      head.append(make("span", bot, { class: "name" }));
      head.append(` seat ${seat}, ${signed(now.scores[seat])} points, ${cards(now.hands[seat]).length} cards`);
      if (now.roles[seat]) head.append(`, ${now.roles[seat]}`);
      if (now.turn === seat) head.append(" – to move");
      const last = make("div", null, { class: "last" });
      if (now.last[seat]) last.append("last: ", move(now.last[seat]));
      box.append(head, row(now.hands[seat]), last);
      return box;
    }));
    listMoves(now);
  }

  function listMoves(now) {
    const list = $("moves");
    if (list.dataset.deal !== `${match.id} ${now.start}`) {
      list.dataset.deal = `${match.id} ${now.start}`;
      list.start = 1;
      list.replaceChildren();
      for (let i = now.start + 1; i < match.positions.length && match.positions[i].start === now.start; i++) {
        const [seat, text, , fault] = match.positions[i].moved;
        const button = make("button", null, { type: "button", "data-at": i });
        button.append(`${name(seat)} `, move(text));
        if (fault) button.append(make("span", " fault", { class: "fault" }));
        const item = make("li", null);
        item.append(button);
        list.append(item);
      }
    }
    for (const button of list.querySelectorAll("button")) {
      if (Number(button.dataset.at) === at) {
        button.setAttribute("aria-current", "step");
        const top = button.offsetTop - list.offsetTop;
        if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
      } else {
        button.removeAttribute("aria-current");
      }
    }
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
    const button = document.querySelector('[data-go="play"]');
    button.setAttribute("aria-pressed", "false");
    button.textContent = "▶▶";
    button.setAttribute("aria-label", "Play");
  }

  function play() {
    if (timer) return pause();
    if (at === match.positions.length - 1) show(0);
    timer = setInterval(() => {
      show(at + 1, false);
      if (at === match.positions.length - 1) pause();
    }, 900);
    const button = document.querySelector('[data-go="play"]');
    button.setAttribute("aria-pressed", "true");
    button.textContent = "⏸";
    button.setAttribute("aria-label", "Pause");
  }

  const go = {
    first: () => show(0),
    back: () => show(at - 1),
    next: () => show(at + 1),
    last: () => show(match.positions.length - 1),
    play,
    close: () => { history.replaceState(null, "", "#matches"); close(); },
  };

  function close() {
    pause();
    match = null;
    $("replay").hidden = true;
  }

  async function open(id, index) {
    const found = data.matches[id];
    if (!found) return;
    if (!match || match.id !== id) {
      $("replay").hidden = false;
      $("replay-title").textContent = `Match ${id}: ${found.seats.map((bot, seat) => `${bot} ${signed(found.scores[seat])}`).join(", ")}`;
      if (typeof DecompressionStream === "undefined") {
        $("move-text").textContent = "This browser is too old to unpack the replay.";
        return;
      }
      const steps = await unpack(found.steps);
      match = { id, seats: found.seats, positions: positions(steps) };
      $("at").max = match.positions.length - 1;
    }
    pause();
    show(index);
    $("replay").scrollIntoView({ block: "start" });
    $("replay-title").focus({ preventScroll: true });
  }

  function follow() {
    const found = /^#match=([^&]+)(?:&move=(\d+))?$/.exec(location.hash);
    if (found) open(decodeURIComponent(found[1]), Number(found[2] || 0));
  }

  if (!$("replay")) return;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && button.dataset.go && (match || button.dataset.go === "close")) {
      if (button.dataset.go !== "play") pause();
      go[button.dataset.go]();
    } else if (button && button.dataset.at) {
      pause();
      show(Number(button.dataset.at));
    }
    const link = event.target.closest('a[href^="#match="]');
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  document.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
    const step = keys[event.key];
    const busy = event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|BUTTON|A)$/.test(event.target.tagName);
    if (!match || !step || busy || !$("replay").contains(event.target)) return;
    event.preventDefault();
    if (step !== "play") pause();
    go[step]();
  });
  $("at").addEventListener("input", () => { if (match) { pause(); show(Number($("at").value)); } });
  $("filter").addEventListener("input", () => {
    const wanted = $("filter").value.trim().toLowerCase();
    let count = 0;
    for (const line of $("list").tBodies[0].rows) {
      line.hidden = !line.textContent.toLowerCase().includes(wanted);
      count += line.hidden ? 0 : 1;
    }
    $("found").textContent = wanted ? `${count} shown` : "";
  });
  addEventListener("hashchange", follow);
  follow();
})();
