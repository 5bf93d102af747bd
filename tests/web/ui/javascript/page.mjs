// The scripts of the pages, with as much of a document as they use.
import { readFileSync } from "node:fs";
import process from "node:process";
import vm from "node:vm";

const SCRIPTS = new URL("../../../../web/ui/static/", import.meta.url);

class Element {
  constructor(tag) {
    this.tagName = tag.toUpperCase();
    this.attributes = {};
    this.children = [];
    this.dataset = {};
    this.style = { setProperty() {} };
    this.classList = { add: (name) => { this.attributes.class = `${this.attributes.class ?? ""} ${name}`; } };
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = String(value);
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  get textContent() {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }

  set textContent(text) {
    this.children = [String(text)];
  }

  /** All elements below this one that match: a tag, `.class`, `[attribute]` or `[attribute="value"]`. */
  querySelectorAll(selector) {
    const inside = this.children.filter((child) => child instanceof Element);
    return inside.flatMap((child) => [...(child.matches(selector) ? [child] : []), ...child.querySelectorAll(selector)]);
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  matches(selector) {
    const [, name, value] = /^\[([\w-]+)(?:="(.*)")?\]$/.exec(selector) ?? [];
    if (name) return name in this.attributes && (value === undefined || this.attributes[name] === value);
    if (selector.startsWith(".")) return (this.attributes.class ?? "").split(" ").includes(selector.slice(1));
    return this.tagName === selector.toUpperCase();
  }

  contains(other) {
    return this === other || this.children.some((child) => child instanceof Element && child.contains(other));
  }

  closest(selector) {
    return selector.split(", ").some((one) => this.matches(one)) ? this : null;
  }
}

/** CardTable and Replay, the addresses that a replay has set, and the timers that it has started. */
export function load() {
  const addresses = [];
  const timers = new Map();
  const context = vm.createContext({
    document: {
      getElementById: () => ({ textContent: process.env.STICH_WORDS }),
      addEventListener() {},
      documentElement: new Element("html"),
      createElement: (tag) => new Element(tag),
      createElementNS: (_, tag) => new Element(tag),
    },
    history: { replaceState: (_state, _title, address) => addresses.push(address) },
    setInterval: (call, ms) => timers.set(timers.size + 1, { call, ms }).size,
    clearInterval: (timer) => timers.delete(timer),
    atob, Blob, DecompressionStream, Response, Uint8Array,
  });
  for (const name of ["table.js", "replay.js"]) {
    vm.runInContext(readFileSync(new URL(name, SCRIPTS), "utf8"), context, { filename: name });
  }
  return { ...vm.runInContext("({ CardTable, Replay })", context), addresses, timers };
}

export const element = (tag, attributes = {}) => {
  const made = new Element(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

/** The parts of replay.html. */
export function replayParts() {
  const root = element("div");
  for (const part of ["table", "values", "said", "at", "where", "moves", "speed", "suits"]) {
    root.append(element(part === "at" ? "input" : "div", { "data-part": part }));
  }
  root.querySelector('[data-part="at"]').type = "range";
  root.querySelector('[data-part="speed"]').value = "2";
  for (const go of ["first", "deal-back", "back", "play", "next", "deal-next", "last"]) root.append(element("button", { "data-go": go }));
  return root;
}
