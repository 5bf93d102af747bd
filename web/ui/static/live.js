"use strict";
// Keeps a page current: asks for it again, and replaces what has changed. The server answers 304
// while nothing has.
(() => {
  const EVERY_MS = 5000;
  let etag = null;

  // What tells a link or a region from the others of a page.
  const keyOf = (element) => element && (element.getAttribute("href") || element.getAttribute("aria-label"));

  async function look() {
    if (document.hidden) return;
    const answer = await fetch(location.href, { headers: etag ? { "If-None-Match": etag } : {}, cache: "no-store" });
    if (answer.status !== 200) return;
    etag = answer.headers.get("ETag");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.querySelectorAll("[data-live]");
    document.querySelectorAll("[data-live]").forEach((region, index) => replace(region, next[index]));
  }

  function replace(now, next) {
    if (!next || now.innerHTML === next.innerHTML) return;
    const scrolled = [...now.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    const focused = now.contains(document.activeElement) && keyOf(document.activeElement);
    now.replaceWith(next);
    next.querySelectorAll(".scroll").forEach((box, index) => { box.scrollLeft = scrolled[index] || 0; });
    const same = [...next.querySelectorAll("a, [tabindex]")].find((one) => focused && keyOf(one) === focused);
    if (same) same.focus({ preventScroll: true });
  }

  async function again() {
    try {
      await look();
    } catch {
      // The server is away; the next look may find it.
    }
    setTimeout(again, EVERY_MS * (0.8 + 0.4 * Math.random()));
  }

  if (document.querySelector("[data-live]")) setTimeout(again, EVERY_MS);
})();
