"use strict";
// Steps through a finished match on a CardTable: buttons, slider, keys, list of moves.
const Replay = (() => {
  const { WORDS, make, fill, say, move, signed } = CardTable;

  // A plot of the values of the deal as the bots stated them, with a line for each seat.
  function plot({ seats, series }, deal, at) {
    const given = deal.map(({ value, move: [seat] }, x) => ({ seat, x, y: value })).filter(({ y }) => typeof y === "number");
    if (given.length < 2) return [];
    const ys = given.map(({ y }) => y);
    const [low, high] = [Math.min(0, ...ys), Math.max(0, ...ys)];
    const scale = (y) => 55 - (50 * (y - low)) / (high - low || 1);
    const across = (x) => (300 * (x + 0.5)) / deal.length;
    const shown = [...seats.keys()].filter((seat) => given.some((point) => point.seat === seat));
    const lines = shown.map((seat) => {
      const points = given.filter((point) => point.seat === seat).map(({ x, y }) => [across(x), scale(y)]);
      const dots = points.map(([cx, cy]) => make("circle", { cx, cy, r: 1.5 }));
      return make("g", { class: series[seat] }, make("path", { d: `M${points.join("L")}` }), ...dots);
    });
    const label = say(WORDS.expected, { low: low.toPrecision(3), high: high.toPrecision(3) });
    const grid = make("path", { class: "grid", d: `M0 ${scale(0)}H300M${across(at)} 0V60` });
    const names = shown.flatMap((seat) => [make("span", { class: series[seat] }, seats[seat]), " "]);
    return [
      make("svg", { viewBox: "0 0 300 60", class: "plot", role: "img", "aria-label": label }, grid, ...lines),
      make("p", {}, `${label}: `, ...names),
    ];
  }

  function sentence(table, now) {
    if (!now.move) return [WORDS.dealt];
    const [seat, text, ms, fault, isDefault] = now.move;
    const words = [make("b", {}, table.seats[seat]), " ", move(text)];
    if (now.forced) words.push(` (${WORDS.forced})`);
    if (isDefault && !fault) words.push(` (${WORDS.struckOut})`);
    if (fault) words.push(make("span", { class: "late" }, ` – ${WORDS.afterFault} ${fault}`));
    if (ms !== null) words.push(make("small", {}, `  ${ms} ms`));
    if (now.ended) {
      const points = now.ended.scores.map((value, seat) => `${table.seats[seat]} ${signed(value)}`);
      words.push(" ", ...fill(WORDS.dealOver, { points: points.join(", ") }));
    }
    return words;
  }

  class Replay {
    // `root` has the parts of replay.html. `address(move)` is the hash for a move; without it, the
    // address stays. The result of a deal stays until a click, or for `patience` steps of play if
    // that is not 0. With `patience`, `finished` is called after the last step.
    constructor(root, { address = null, patience = 0, finished = null }) {
      Object.assign(this, { root, address, patience, finished, timer: 0 });
      CardTable.colours(this.part("suits"));
      for (const kind of ["click", "keydown", "input"]) document.addEventListener(kind, (event) => this.handle(event));
    }

    // Unpack the steps of a match, which the server has compressed.
    static async unpack({ steps }) {
      const bytes = Uint8Array.from(atob(steps), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      return JSON.parse(await new Response(stream).text());
    }

    // Replace the match. Call `show` afterwards.
    open(match, steps) {
      this.pause();
      Object.assign(this, { positions: steps, at: 0, waited: 0, result: false, listed: null });
      const largest = (seat, parts) => Math.max(...steps.map((step) => parts(step.hands[seat]).length));
      const most = match.seats.map((_, seat) => largest(seat, CardTable.cards));
      const groups = largest(0, (held) => held.split(" "));
      this.table = { seats: match.seats, series: match.series, own: 0, clockwise: match.clockwise, most, groups };
      this.part("at").max = steps.length - 1;
      // The step before the first move of each deal.
      this.begins = [...steps.keys()].filter((index) => !index || (steps[index].ended && index < steps.length - 1));
      const deals = steps.filter((step) => step.ended).length;
      for (const go of ["deal-back", "deal-next"]) this.root.querySelector(`[data-go="${go}"]`).hidden = deals < 2;
      this.root.hidden = false;
    }

    part(name) {
      return this.root.querySelector(`[data-part="${name}"]`);
    }

    show(index, speak = true, result = true) {
      this.at = Math.max(0, Math.min(index, this.positions.length - 1));
      const now = this.positions[this.at];
      this.result = result && Boolean(now.ended);
      this.waited = 0;
      this.part("at").value = this.at;
      this.part("where").textContent = `${this.at} / ${this.positions.length - 1}`;
      const caption = this.part("said");
      caption.setAttribute("aria-live", speak ? "polite" : "off");
      const beyond = index > this.at ? [`${CardTable.say(WORDS.beyond, { last: this.at })} `] : [];
      caption.replaceChildren(...beyond, ...sentence(this.table, now));
      CardTable.draw(this.part("table"), this.table, now, this.result ? this.resultBox(now) : null);
      const start = this.begins.findLast((index) => index < this.at) ?? 0;
      const deal = this.positions.slice(start + 1, (this.begins.find((index) => index > start) ?? this.positions.length) + 1);
      this.list(start, deal);
      this.part("values").replaceChildren(...plot(this.table, deal, this.at - start - 1));
      if (this.address) history.replaceState(null, "", this.address(this.at));
    }

    resultBox(now) {
      const last = now.turn === null;
      const button = make("button", { type: "button", "data-go": "on" }, last ? WORDS.showTable : WORDS.nextDeal);
      const deal = this.positions[this.at - 1].deal;
      return CardTable.result(this.table, now.ended, say(last ? WORDS.lastDealOver : WORDS.thisDealOver, { deal }), button);
    }

    list(start, deal) {
      const list = this.part("moves");
      if (this.listed !== start) {
        this.listed = start;
        list.replaceChildren(...deal.map(({ move: [seat, text, , fault] }, index) => {
          const words = make("span", { class: fault ? "late" : null }, fault ? `${WORDS.fault}: ` : "", move(text));
          const parts = [index + 1, this.table.seats[seat]].map((part) => make("span", {}, String(part)));
          return make("li", {}, make("button", { type: "button", "data-at": start + 1 + index }, ...parts, words));
        }));
      }
      list.querySelector("[aria-current]")?.removeAttribute("aria-current");
      const current = list.querySelector(`[data-at="${this.at}"]`);
      if (!current) return;
      current.setAttribute("aria-current", "step");
      const top = current.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
    }

    pause() {
      this.run(0);
    }

    // Play `speed` moves a second, or pause if that is 0.
    run(speed) {
      clearInterval(this.timer);
      this.timer = speed && setInterval(() => this.tick(), 1000 / speed);
      const button = this.root.querySelector('[data-go="play"]');
      button.setAttribute("aria-pressed", speed > 0);
      button.setAttribute("aria-label", speed ? WORDS.pause : WORDS.run);
      button.textContent = speed ? "❚❚" : "▶";
    }

    play() {
      if (this.timer) return this.pause();
      if (this.at === this.positions.length - 1) this.show(0);
      else if (this.result) this.go("on");
      this.run(Number(this.part("speed").value));
    }

    tick() {
      if (this.result && (!this.patience || ++this.waited < this.patience)) return;
      const end = this.positions.length - 1;
      if (this.at === end) return this.finished();
      this.show(this.result ? this.at : this.at + 1, false, !this.result);
      if (this.at === end && !this.patience) this.pause();
    }

    // Go to a step by its name, or to the move with this number.
    go(step) {
      if (step === "play") return this.play();
      if (step === "on" || (step === "next" && this.result)) return this.show(this.at, true, false);
      this.pause();
      const end = this.positions.length - 1;
      const deals = { "deal-back": this.begins.findLast((index) => index < this.at) ?? 0, "deal-next": this.begins.find((index) => index > this.at) ?? end };
      if (step in deals) return this.show(deals[step], true, false);
      this.show({ first: 0, back: this.at - 1, next: this.at + 1, last: end }[step] ?? Number(step));
    }

    handle(event) {
      const { type, target } = event;
      if (!this.positions) return;
      if (type === "keydown") return this.key(event);
      if (!this.root.contains(target)) return;
      if (type === "click") {
        const button = target.closest("[data-go], [data-at]");
        if (button) this.go(button.dataset.go ?? button.dataset.at);
      } else if (target === this.part("at")) this.go(target.value);
      else if (this.timer) this.run(Number(this.part("speed").value));
    }

    key(event) {
      const step = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" }[event.key];
      const { tagName, type } = event.target;
      const typing = (tagName === "INPUT" && type !== "range") || tagName === "TEXTAREA" || tagName === "SELECT";
      // A button and a link keep the space bar.
      const pressing = event.key === " " && (tagName === "BUTTON" || tagName === "A");
      if (!step || typing || pressing || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.go(step);
    }
  }

  return Replay;
})();
