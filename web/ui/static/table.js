"use strict";
// Draws a card table, for replays, live pages and games of a person. This script does not know the
// rules: a position has what each seat holds, what lies on the table, and facts for the reader.
//
// position: { deal, phase, turn, hands (by seat: "3c4d 5h", or "????" if hidden), roles (by seat:
//   texts), scores, facts ([label, value, cards, seat, whether the cards lie on the table]), last (by
//   seat: a move), times (by seat: [text, whether the bank was used]; optional), infos (by seat: the
//   bot's remark; optional), trick_over }
const CardTable = (() => {
  const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
  const WORDS = JSON.parse(document.getElementById("words").textContent); // of words.html
  const SVG = ["svg", "g", "path", "circle"];

  function make(tag, attributes = {}, ...children) {
    const element = SVG.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  // The children of an element: a text with values, which may be elements, in place of its {names}.
  function fill(text, values) {
    return text.split(/\{(\w+)\}/).flatMap((part, index) => (index % 2 ? values[part] : part));
  }

  const say = (text, values) => fill(text, values).join("");
  // The text for a number of things.
  const count = (forms, number) => say(forms[number === 1 ? 0 : 1], { number });

  const cards = (text) => text.match(/\S{2}/g) || [];
  const points = (value) => say(WORDS.points, { points: signed(value) });
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value);
  // The class of a card's colour: its suit; a joker has that of hearts or spades.
  const suit = (name) => ({ Rj: "h", Bj: "s" })[name] || name[1];

  function label(name) {
    if (name === "??") return WORDS.hidden;
    if (name[1] === "j") return WORDS.jokers[name];
    return say(WORDS.card, { rank: WORDS.ranks[name[0]] || name[0], suit: WORDS.suits[name[1]] });
  }

  function face(name) {
    if (name === "??") return [];
    if (name[1] === "j") return [make("span", {}, "JOKER")];
    return [name[0] === "T" ? "10" : name[0], make("i", {}, SUITS[name[1]])];
  }

  // An element that shows a card on a table.
  function card(name, tag = "span", attributes = {}) {
    const wide = name[1] === "j" ? " joker" : name[0] === "T" ? " ten" : "";
    const kind = name === "??" ? " back" : ` ${suit(name)}${wide}`;
    const shown = face(name);
    const made = make(tag, { class: `card${kind}`, "aria-label": label(name), ...attributes }, ...shown);
    if (tag === "span") made.setAttribute("role", "img");
    else made.setAttribute("aria-label", `${made.textContent} ${label(name)}`); // begins with the visible text
    return made;
  }

  // A hand with gaps between its groups. `draw` draws a card from its name and its number in the hand.
  function hand(text, draw = (name) => card(name)) {
    const groups = text.split(" ").map(cards);
    const row = make("div", { class: text.startsWith("??") ? "hand hidden" : "hand" });
    for (const group of groups) {
      group.forEach((name, index) => {
        const drawn = draw(name, row.children.length);
        if (row.children.length && !index) drawn.classList.add("apart");
        row.append(drawn);
      });
    }
    row.style.setProperty("--cards", row.children.length);
    return row;
  }

  // A card within a sentence.
  function inline(name) {
    if (name === "??") return make("span", { "aria-label": label(name), role: "img" }, "▒");
    const text = name[1] === "j" ? label(name) : (name[0] === "T" ? "10" : name[0]) + SUITS[name[1]];
    return make("span", { class: `suit ${suit(name)}`, "aria-label": label(name), role: "img" }, text);
  }

  function inlines(names) {
    return names.flatMap((name, index) => (index ? [" ", inline(name)] : [inline(name)]));
  }

  // A move within a sentence: the verb from `verbs`, with the bid or the cards.
  function move(text, verbs = WORDS.moves) {
    const [, kind, rest = "", suffix] = /^(\w+):?([^=]*)(?:=(.*))?$/.exec(text);
    const what = { trump: [WORDS.suits[rest]], bid: [rest], pass: [] }[kind] || inlines(cards(rest));
    const read = suffix ? ` (${WORDS.categories[suffix] ?? suffix})` : "";
    return make("span", { class: kind === "pass" ? "pass" : null }, ...fill(verbs[kind], { what }), read);
  }

  function fact([name, value, held, seat], seats) {
    const words = [...inlines(cards(held)), value && held ? ` (${value})` : value];
    const whose = seat === null ? "" : `${seats[seat]}: `;
    return make("span", {}, `${name} `, make("b", {}, whose, ...words));
  }

  // The other seats in the order of the screen, from the left of `own`.
  function around(count, own, clockwise) {
    const after = Array.from({ length: count - 1 }, (_, index) => (own + 1 + index) % count);
    return clockwise ? after : after.reverse();
  }

  function seatBox(table, position, seat, own) {
    const held = position.hands[seat];
    const [time, late] = position.times?.[seat] ?? [];
    const texts = [count(WORDS.cards, cards(held).length), points(position.scores[seat]), time ?? []].flat();
    const who = make("div", { class: "who" }, make("strong", {}, table.seats[seat]));
    who.append(...position.roles[seat].map((role) => make("span", { class: "tag" }, role)));
    const about = make("div", { class: "about" }, make("span", { class: late ? "late" : null }, texts.join(" · ")));
    const onTable = position.facts.some(([, , , owner, lies]) => lies && owner === seat);
    if (position.last[seat] && !onTable) about.append(make("span", { class: "said" }, move(position.last[seat])));
    const box = make("div", { class: `seat${own ? " own" : ""}${position.turn === seat ? " turn" : ""}` }, who, about);
    if (position.infos?.[seat]) box.append(make("p", { class: "info" }, position.infos[seat]));
    const most = table.most.filter((_, other) => (other === table.own) === own); // the other seats have cards of equal size
    box.style.setProperty("--most", Math.max(...most));
    box.style.setProperty("--groups", table.groups);
    const drawOwn = own ? table.drawOwn : undefined;
    const row = hand(held, drawOwn);
    if (!held && table.hidden && !drawOwn) row.classList.add("hidden"); // as low as it was with cards
    box.append(row);
    return box;
  }

  function middle(table, position) {
    const plays = make("div", { class: "plays" });
    for (const [, value, held, seat] of position.facts.filter((fact) => fact[4])) {
      const whose = make("p", {}, make("b", {}, table.seats[seat]), value ? ` · ${value}` : "");
      plays.append(make("div", { class: "play" }, hand(held), whose));
    }
    const text = position.turn === null ? WORDS.over : position.trick_over ? WORDS.trickOver : WORDS.toMove;
    const next = fill(text, { name: make("b", {}, table.seats[position.turn]) });
    return make("div", { class: "middle" }, plays, make("p", { class: "next" }, ...next));
  }

  // The result of a deal, which covers the table. `ended` has the scores, the hands at their largest,
  // the cards left of them (both empty for spectators of a match in progress), and facts. `actions`
  // are the buttons below the title.
  function result(table, ended, title, ...actions) {
    const box = make("section", { class: "result", "aria-label": WORDS.result }, make("h2", {}, title), make("p", { class: "actions" }, ...actions));
    box.style.setProperty("--most", 20);
    box.style.setProperty("--groups", table.groups);
    table.seats.forEach((name, seat) => {
      box.append(make("p", { class: "who" }, make("strong", {}, name), points(ended.scores[seat])));
      if (!ended.hands.length) return; // a spectator of a match in progress does not see the hands
      const left = cards(ended.left[seat]);
      const held = hand(ended.hands[seat], (name) => {
        const at = left.indexOf(name);
        const drawn = card(name);
        if (at >= 0) drawn.classList.add("left");
        if (at >= 0) left.splice(at, 1);
        return drawn;
      });
      box.append(held);
    });
    const facts = ended.facts.map((stated) => fact(stated[4] ? [WORDS.lastTrick, ...stated.slice(1)] : stated, table.seats));
    box.append(make("p", { class: "facts" }, ended.hands.length ? WORDS.outlined : "", ...facts));
    return box;
  }

  // Draw a position in `root`. table: { seats (names), own (seat at the bottom), clockwise, most (by
  // seat: the largest number of cards), groups (the largest number of groups in a hand), drawOwn
  // (draws a card of the own hand; optional), hidden (set here: whether hands are hidden) }. `covering`
  // is the result of a deal, or null.
  function draw(root, table, position, covering = null) {
    const others = around(table.seats.length, table.own, table.clockwise);
    table.hidden ||= position.hands.some((held) => held.startsWith("??"));
    const top = make("div", { class: "others" });
    top.append(...others.map((seat) => seatBox(table, position, seat, false)));
    const facts = make("p", { class: "facts" }, make("span", {}, say(WORDS.deal, { number: position.deal, phase: position.phase })));
    facts.append(...position.facts.filter((stated) => !stated[4]).map((stated) => fact(stated, table.seats)));
    const felt = make("div", { class: "felt", role: "group", "aria-label": WORDS.table });
    felt.append(top, middle(table, position), seatBox(table, position, table.own, true));
    if (covering) felt.append(covering);
    root.replaceChildren(make("div", { class: "board" }, felt), facts);
  }

  // Let a checkbox choose between four and two colours of suits. The browser remembers the choice.
  function colours(box) {
    box.checked = true;
    try { box.checked = localStorage.getItem("stich-suits") !== "2"; } catch { /* four */ }
    const show = () => { document.documentElement.dataset.suits = box.checked ? "4" : "2"; };
    box.onchange = () => {
      show();
      try { localStorage.setItem("stich-suits", document.documentElement.dataset.suits); } catch { /* for this page only */ }
    };
    show();
  }

  return { WORDS, make, fill, say, count, cards, card, hand, move, draw, result, signed, label, colours };
})();
