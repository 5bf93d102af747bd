import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { element, load, replayParts } from "./page.mjs";

const trick = (seat, cards) => [["Trick", "", cards, seat, true]];
const FIRST = {
  deal: 1, phase: "play", turn: 0, hands: ["3c4d", "5c6d"], roles: [[], []], scores: [0, 0], facts: [], last: [null, null],
  times: [null, null], infos: [null, null], move: null, forced: false, value: null, ended: null,
};
const STEPS = [
  FIRST,
  { ...FIRST, turn: 1, facts: trick(0, "3c"), last: ["play:3c", null], move: [0, "play:3c", 12.5, null, false] },
  { ...FIRST, last: ["play:3c", "pass"], times: [null, ["2500 ms", true]], move: [1, "pass", 2500, null, false] },
  { ...FIRST, turn: 1, facts: trick(0, "4d"), last: ["play:4d", null], move: [0, "play:4d", null, null, true] },
  { ...FIRST, deal: 2, last: ["play:4d", "pass"], ended: { scores: [1, -1], hands: ["3c4d", "5c6d 8c"], left: ["", "6d"], facts: [["talon", "", "9h", null, false]] }, move: [1, "pass", 3, "timeout: too late", true] },
  { ...FIRST, deal: 2, turn: null, facts: trick(1, "8c"), last: [null, "play:8c"], move: [1, "play:8c", 1, null, false] },
];

async function open(steps = STEPS) {
  const page = load();
  const root = replayParts();
  const match = { seats: ["ann", "bob"], series: ["series-0", "series-1"], clockwise: true, steps: deflateSync(JSON.stringify(steps)).toString("base64") };
  const replay = new page.Replay(root, { address: (move) => `#move=${move}` });
  replay.open(match, await page.Replay.unpack(match));
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  return { ...page, root, replay, part, said: () => part("said").textContent };
}

test("a move that took time from the bank is late", async () => {
  const { replay, part } = await open();
  replay.show(2);
  assert.deepEqual(part("table").querySelectorAll(".late").map((late) => late.textContent), ["2 cards · 0 points · 2500 ms"]);
});

test("each move is a sentence with its fault and the end of its deal", async () => {
  const { replay, said } = await open();
  const sentences = STEPS.map((_, index) => (replay.show(index), said()));
  assert.equal(sentences[0], "The cards are dealt.");
  assert.equal(sentences[1], "ann 3♣  12.5 ms");
  assert.match(sentences[3], /default move: the bot is struck out/);
  assert.match(sentences[4], /default move after a fault\. timeout: too late.*The deal is over: ann \+1, bob −1\./);
});

test("the address and the slider follow the move, within the match", async () => {
  const { replay, part, addresses, said } = await open();
  replay.show(99);
  assert.match(said(), /^This match ends with move 5\. /);
  replay.show(-1);
  replay.show(2);
  assert.deepEqual(addresses, ["#move=5", "#move=0", "#move=2"]);
  assert.equal(part("at").value, 2);
  assert.equal(part("where").textContent, "2 / 5");
});

test("the list has the moves of the deal that is shown", async () => {
  const { replay, part } = await open();
  replay.show(2);
  const listed = () => part("moves").querySelectorAll("button").map((button) => button.textContent);
  assert.deepEqual(listed(), ["1ann3♣", "2bobpass", "3ann4♦", "4bobfault: pass"]);
  const [current] = part("moves").querySelectorAll("[aria-current]");
  assert.equal(current.dataset.at, "2");
  replay.show(5);
  assert.deepEqual(listed(), ["1bob8♣"]);
});

test("keys step, unless somebody types or presses a button", async () => {
  const { replay, timers } = await open();
  const press = (key, tag = "div", more = {}) => replay.handle({ type: "keydown", key, target: element(tag), preventDefault() {}, ...more });
  press("End");
  assert.equal(replay.at, 5);
  press("ArrowLeft");
  assert.equal(replay.at, 4);
  press("Home", "input");
  press("Home", "div", { ctrlKey: true });
  press(" ", "button");
  press("x");
  assert.equal(replay.at, 4);
  assert.equal(timers.size, 0);
});

test("play steps to the end and stops there", async () => {
  const { root, replay, timers } = await open();
  replay.show(4);
  const button = root.querySelector('[data-go="play"]');
  replay.handle({ type: "click", target: root.querySelector('[data-go="next"]') }); // dismisses the result
  replay.handle({ type: "click", target: button });
  const [timer] = timers.values();
  assert.equal(timer.ms, 500);
  assert.equal(button.attributes["aria-label"], "Pause");
  timer.call();
  assert.equal(replay.at, 5);
  assert.equal(timers.size, 0);
  assert.equal(button.attributes["aria-label"], "Run");
});

test("an onlooker, who sees no hands, sees the points of a deal", async () => {
  const { replay, part } = await open(STEPS.map((one) => one.ended ? { ...one, ended: { ...one.ended, hands: [], left: [] } } : one));
  replay.show(4);
  const [result] = part("table").querySelectorAll(".result");
  assert.match(result.textContent, /Deal 1 is overNext dealann\+1 pointsbob−1 pointstalon 9♥/);
});

test("the result of a deal stands until it is dismissed, with all hands and what was left of them", async () => {
  const { root, replay, part, timers } = await open();
  replay.show(3);
  replay.play();
  const [timer] = timers.values();
  for (let tick = 0; tick < 9; tick++) timer.call();
  assert.equal(replay.at, 4);
  const [result] = part("table").querySelectorAll(".result");
  assert.deepEqual(result.querySelectorAll(".card").map((card) => card.attributes["aria-label"]), ["3 of clubs", "4 of diamonds", "5 of clubs", "6 of diamonds", "8 of clubs"]);
  assert.deepEqual(result.querySelectorAll(".left").map((card) => card.attributes["aria-label"]), ["6 of diamonds"]);
  assert.match(result.textContent, /Deal 1 is overNext deal.*ann.*\+1.*bob.*−1.*talon 9♥/);
  replay.handle({ type: "click", target: result.querySelector("button") });
  assert.deepEqual(part("table").querySelectorAll(".result"), []);
  timer.call();
  assert.equal(replay.at, 5);
  for (const [go, at] of [["deal-back", 4], ["deal-back", 0], ["deal-next", 4], ["deal-next", 5]]) {
    replay.handle({ type: "click", target: root.querySelector(`[data-go="${go}"]`) });
    assert.equal(replay.at, at);
  }
});

test("what bots say stands beside their move, and values are plotted over the deal", async () => {
  const say = (seat, value) => ({ ...FIRST, value, infos: [`<i>${value}`, null], move: [seat, "pass", 1, null, false] });
  const more = [say(0, 1.5), { ...FIRST, move: [1, "pass", null, null, false], forced: true }, say(0, -2), say(1, 0.5)];
  const { replay, part, said } = await open([STEPS[0], ...more]);
  replay.show(1);
  assert.equal(part("table").querySelectorAll(".info").map((line) => line.textContent).join(), "<i>1.5");
  replay.show(2);
  assert.match(said(), /the only legal move/);
  replay.show(4);
  const lines = part("values").querySelectorAll("g").map((line) => line.querySelectorAll("circle").length);
  assert.deepEqual(lines, [2, 1]);
  assert.match(part("values").textContent, /Expected value of the deal, from -2.00 to 1.50: ann bob/);
});
