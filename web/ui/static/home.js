"use strict";
// The table of the first page: search by bot or author, and the reader's own bot, which this
// browser remembers ("stich-mine"; the page of a bot sets it).
(() => {
  const $ = (id) => document.getElementById(id);
  const read = () => { try { return localStorage.getItem("stich-mine"); } catch { return null; } };

  function filter() {
    const wanted = ($("search")?.value ?? "").trim().toLocaleLowerCase();
    for (const line of document.querySelectorAll(".rows li")) {
      line.hidden = !line.querySelector(".bot").textContent.toLocaleLowerCase().includes(wanted);
    }
  }

  function mark() {
    const mine = read();
    const line = mine && [...document.querySelectorAll(".rows li")].find((line) => line.dataset.bot === mine);
    const summary = $("mine");
    if (summary) summary.hidden = !line;
    if (!line || !summary) return;
    line.classList.add("mine");
    const { place, range, points } = line.dataset;
    summary.querySelector("b").textContent = summary.dataset.words.replace("{bot}", mine);
    summary.querySelector("span").textContent = [place, range, points].filter(Boolean).join(" · ");
    const query = new URLSearchParams({ bot: mine });
    for (const link of summary.querySelectorAll("a")) link.href = `/matches?${query}${link.dataset.more}`;
  }

  function show() {
    const box = $("is-mine");
    if (box) {
      box.checked = read() === box.value;
      box.closest("p").hidden = false;
    }
    mark();
    filter();
  }

  document.addEventListener("input", ({ target }) => {
    if (target.id === "search") filter();
    if (target.id !== "is-mine") return;
    try {
      if (target.checked) localStorage.setItem("stich-mine", target.value);
      else localStorage.removeItem("stich-mine");
    } catch { /* this browser remembers nothing */ }
  });
  document.addEventListener("renewed", show);
  show();
})();
