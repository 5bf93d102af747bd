"use strict";
// A match as a card table: what replays, live pages and play share. It knows no rules: a position
// says what each seat holds, what lies on the table, and what a person should know of it.
//
// position: { deal, phase, turn, hands (by seat: "3c4d", or null if hidden), counts, roles (by
//   seat: texts), scores, facts ([label, value, cards, seat, on the table]), last (by seat: a move),
//   times (by seat: [text, whether it was late]; optional), infos (by seat: what the bot said; optional) }
const CardTable = (() => {
  const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
  const WORDS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
  const RANKS = { T: "10", J: "jack", Q: "queen", K: "king", A: "ace" };

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  const cards = (text) => text.match(/../g) || [];
  const signed = (value) => (value > 0 ? "+" : "") + value;
  const red = (name) => /^.[dh]$|^Rj$/.test(name);

  function label(name) {
    if (name === "??") return "a hidden card";
    if (name[1] === "j") return name === "Rj" ? "red joker" : "black joker";
    return `${RANKS[name[0]] || name[0]} of ${WORDS[name[1]]}`;
  }

  function face(name) {
    if (name === "??") return [];
    if (name[1] === "j") return [make("span", {}, "JOKER")];
    return [name[0] === "T" ? "10" : name[0], make("i", {}, SUITS[name[1]])];
  }

  // A card as it lies on a table.
  function card(name, tag = "span", attributes = {}) {
    const wide = name[1] === "j" ? " joker" : name[0] === "T" ? " ten" : "";
    const kind = name === "??" ? " back" : (red(name) ? " red" : "") + wide;
    const shown = face(name);
    const made = make(tag, { class: `card${kind}`, "aria-label": label(name), ...attributes }, ...shown);
    if (tag === "span") made.setAttribute("role", "img");
    else made.setAttribute("aria-label", `${made.textContent} ${label(name)}`); // begins with what it shows
    return made;
  }

  function hand(names, small = false) {
    return make("div", { class: small ? "hand small" : "hand" }, ...names.map((name) => card(name)));
  }

  // A card within a sentence.
  function inline(name) {
    if (name === "??") return make("span", { "aria-label": label(name), role: "img" }, "▒");
    const text = name[1] === "j" ? label(name) : (name[0] === "T" ? "10" : name[0]) + SUITS[name[1]];
    return make("span", { class: red(name) ? "r" : null, "aria-label": label(name), role: "img" }, text);
  }

  function inlines(names) {
    return names.flatMap((name, index) => (index ? [" ", inline(name)] : [inline(name)]));
  }

  const SAYS = { bid: "bids ", call: "calls ", discard: "discards ", give: "gives ", pass: "pass", play: "", trump: "trumps are " };

  // A move within a sentence: the verb, one of `verbs`, then the cards.
  function move(text, verbs = SAYS) {
    const [, kind, rest = "", suffix] = /^(\w+):?([^=]*)(?:=(.*))?$/.exec(text);
    const what = { trump: [WORDS[rest]], bid: [rest], pass: [] }[kind] || inlines(cards(rest));
    return make("span", { class: kind === "pass" ? "pass" : null }, verbs[kind], ...what, suffix ? ` as ${suffix}` : "");
  }

  function fact([name, value, held, seat], seats) {
    const words = [...inlines(cards(held)), value && held ? ` (${value})` : value];
    const whose = seat === null ? "" : `${seats[seat]}: `;
    return make("span", {}, `${name} `, make("b", {}, whose, ...words));
  }

  // The seats clockwise from the left of `own`, without it.
  function around(count, own, clockwise) {
    const after = Array.from({ length: count - 1 }, (_, index) => (own + 1 + index) % count);
    return clockwise ? after : after.reverse();
  }

  function seatBox(table, position, seat, own) {
    const held = position.hands[seat];
    const count = position.counts ? position.counts[seat] : cards(held).length;
    const about = [`${count} card${count === 1 ? "" : "s"}`, `${signed(position.scores[seat])} points`];
    const time = position.times && position.times[seat];
    if (time) about.push(time[0]);
    const who = make("div", { class: "who" }, make("strong", {}, table.seats[seat]));
    who.append(...position.roles[seat].map((role) => make("span", { class: "tag" }, role)));
    who.append(make("span", { class: time && time[1] ? "late" : null }, about.join(" · ")));
    if (position.infos && position.infos[seat]) who.append(make("p", { class: "info" }, position.infos[seat]));
    const shown = held === null ? Array(count).fill("??") : cards(held);
    const box = make("div", { class: `seat${own ? " own" : ""}${position.turn === seat ? " turn" : ""}` }, who);
    box.append(own && table.ownHand ? table.ownHand(shown) : hand(shown, !own));
    const lies = position.facts.some((one) => one[4] && one[3] === seat);
    if (position.last[seat] && !lies) box.append(make("span", { class: "said" }, move(position.last[seat])));
    return box;
  }

  function middle(table, position) {
    const box = make("div", { class: "middle" });
    for (const [, value, held, seat] of position.facts.filter((one) => one[4])) {
      const whose = make("p", {}, make("b", {}, table.seats[seat]), value ? ` · ${value}` : "");
      box.append(make("div", { class: "play" }, hand(cards(held)), whose));
    }
    const next = position.turn === null ? "The game is over." : ["to move: ", make("b", {}, table.seats[position.turn])];
    box.append(make("p", { class: "next" }, ...[next].flat()));
    return box;
  }

  // Draw a position. table: { seats (names), own (seat at the bottom), clockwise, ownHand (draws
  // the hand of the own seat; optional) }
  function draw(root, table, position) {
    const others = around(table.seats.length, table.own, table.clockwise);
    const top = make("div", { class: `others of-${others.length}` });
    top.append(...others.map((seat) => seatBox(table, position, seat, false)));
    const notes = [`Deal ${position.deal}, ${position.phase}`];
    const facts = make("p", { class: "facts" }, make("span", {}, notes.join(" ")));
    facts.append(...position.facts.filter((one) => !one[4]).map((one) => fact(one, table.seats)));
    const felt = make("div", { class: "felt", role: "group", "aria-label": "Card table" });
    felt.append(top, middle(table, position), seatBox(table, position, table.own, true));
    root.replaceChildren(felt, facts);
  }

  return { make, cards, card, hand, move, draw, signed, label };
})();
