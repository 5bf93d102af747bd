"use strict";
// Keeps a page current: requests the page again and again, and replaces the regions that have
// changed. Says when the arena does not answer, and shows times in the reader's time zone.
const Live = (() => {
  const EVERY_MS = 5000;
  const PATIENCE_MS = 10000;
  const { lang } = document.documentElement;
  const { follow } = document.currentScript.dataset;
  const notice = document.getElementById("connection");
  const sent = new WeakMap(); // the HTML of a region as the server sent it
  let etag = null;
  let heard = new Date(); // when the arena last answered
  let timer = 0;

  // Request a path of the arena. If there is no answer, say so on the page, and throw an error.
  async function ask(path, options = {}) {
    const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS), ...options }).catch(() => null);
    const there = answer !== null && answer.status < 500;
    if (there) heard = new Date();
    document.body.classList.toggle("lost", !there);
    notice.hidden = there;
    if (there) return answer;
    const since = heard.toLocaleString(lang, { timeStyle: "medium", dateStyle: isToday(heard) ? undefined : "medium" });
    const words = notice.dataset.words.replace("{time}", since);
    if (notice.textContent !== words) notice.textContent = words;
    if (follow === undefined) { // nothing else on this page asks again
      clearTimeout(timer);
      timer = setTimeout(() => ask("/healthz").catch(() => {}), EVERY_MS);
    }
    throw new Error("The arena does not answer.");
  }

  const isToday = (at) => at.toDateString() === new Date().toDateString();

  // A time in the reader's time zone, with the date if that is not today.
  function moment(at) {
    const now = new Date();
    const day = isToday(at) ? {} : { day: "numeric", month: "long" };
    const year = at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" };
    return at.toLocaleString(lang, { hour: "2-digit", minute: "2-digit", ...day, ...year });
  }

  // The age of a time, such as "12 seconds ago".
  function ago(at) {
    const seconds = Math.max(0, (Date.now() - at) / 1000);
    const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]].find(([length]) => seconds >= 1.5 * length) ?? [1, "second"];
    return new Intl.RelativeTimeFormat(lang).format(-Math.round(seconds / size), unit);
  }

  // Rewrite the times below `root`. Words in data-ago have {ago}, the age, which is kept current.
  function showTimes(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (time.dataset.ago === undefined) time.textContent = moment(at);
      if (time.title !== at.toLocaleString(lang)) time.title = at.toLocaleString(lang);
    }
    showAges();
  }

  function showAges() {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const words = time.dataset.ago.replace("{ago}", ago(new Date(time.dateTime)));
      if (time.textContent !== words) time.textContent = words;
    }
  }

  // The attribute that distinguishes a link or a region from the others on a page.
  const keyOf = (element) => element && (element.getAttribute("href") || element.getAttribute("aria-label"));

  async function look() {
    if (document.hidden) return;
    const answer = await ask(location.href, { headers: etag ? { "If-None-Match": etag } : {} });
    if (answer.status !== 200) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    etag = answer.headers.get("ETag"); // only now: the text may break off
    const next = page.querySelectorAll("[data-live]");
    document.querySelectorAll("[data-live]").forEach((region, index) => replace(region, next[index]));
  }

  function replace(now, next) {
    if (!next || sent.get(now) === next.innerHTML) return;
    sent.set(next, next.innerHTML);
    const scrolled = [...now.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    const focused = now.contains(document.activeElement) && keyOf(document.activeElement);
    now.replaceWith(next);
    showTimes(next);
    next.querySelectorAll(".scroll").forEach((box, index) => { box.scrollLeft = scrolled[index] || 0; });
    const same = [...next.querySelectorAll("a, [tabindex]")].find((element) => focused && keyOf(element) === focused);
    if (same) same.focus({ preventScroll: true });
    next.dispatchEvent(new Event("renewed", { bubbles: true }));
  }

  async function again() {
    clearTimeout(timer);
    await look().catch(() => {}); // the page says so already
    timer = setTimeout(again, EVERY_MS * (0.8 + 0.4 * Math.random()));
  }

  for (const region of document.querySelectorAll("[data-live]")) sent.set(region, region.innerHTML);
  showTimes(document);
  setInterval(showAges, 1000);
  if (follow !== undefined) {
    timer = setTimeout(again, EVERY_MS);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) again(); });
  }
  return { ask, showTimes };
})();
