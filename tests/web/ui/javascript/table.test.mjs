import assert from "node:assert/strict";
import test from "node:test";
import { element, load } from "./page.mjs";

const { CardTable } = load();

const position = {
  deal: 2,
  phase: "play",
  turn: 1,
  hands: ["3c4d", "??????????", "Rj"],
  roles: [["landlord"], [], []],
  scores: [3, -1, 0],
  facts: [["Bid", "3", "", 0, false], ["Trick", "pair", "5c5d", 2, true]],
  last: ["pass", null, "play:5c5d"],
};

function drawn(own = 0, clockwise = true) {
  const root = element("div");
  CardTable.draw(root, { seats: ["ann", "bob", "cat"], own, clockwise, most: [2, 5, 1], groups: 1 }, position);
  return root;
}

const cards = (box) => box.querySelectorAll(".card").map((card) => card.attributes["aria-label"]);

test("a card has the name that a screen reader speaks", () => {
  const names = { "3c": "3 of clubs", Th: "10 of hearts", Qs: "queen of spades", Rj: "red joker", Bj: "black joker", "??": "a hidden card" };
  for (const [name, label] of Object.entries(names)) assert.equal(CardTable.label(name), label);
});

test("a move is a sentence", () => {
  const sentences = { "play:3cTd": "3♣ 10♦", "bid:2": "bids 2", "trump:h": "trumps are hearts", pass: "pass", "play:RjBj=fullhouse": "red joker black joker (full house)" };
  for (const [move, sentence] of Object.entries(sentences)) assert.equal(CardTable.move(move).textContent, sentence);
});

test("a hidden hand is as many backs as it has cards", () => {
  const [bob] = drawn().querySelectorAll(".seat");
  assert.deepEqual(cards(bob), Array(5).fill("a hidden card"));
  assert.match(bob.textContent, /5 cards · −1 points/);
});

test("the own seat is at the bottom, the others go round from its left", () => {
  const seats = (...how) => drawn(...how).querySelectorAll(".seat").map((box) => box.querySelector("strong").textContent);
  assert.deepEqual(seats(0, true), ["bob", "cat", "ann"]);
  assert.deepEqual(seats(0, false), ["cat", "bob", "ann"]);
  assert.deepEqual(seats(1, true), ["cat", "ann", "bob"]);
});

test("what lies on the table is in its middle, and not beside its seat again", () => {
  const root = drawn();
  assert.deepEqual(cards(root.querySelector(".middle")), ["5 of clubs", "5 of diamonds"]);
  assert.match(root.querySelector(".middle").textContent, /cat · pair.*To move: bob/);
  const [, cat, ann] = root.querySelectorAll(".seat");
  assert.equal(cat.querySelector(".said"), null);
  assert.equal(ann.querySelector(".said").textContent, "pass");
  assert.equal(root.querySelector(".turn").querySelector("strong").textContent, "bob");
  assert.match(root.querySelector(".facts").textContent, /Deal 2, play.*Bid ann: 3/);
});
