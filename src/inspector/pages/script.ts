/**
 * The one script, which runs in the browser: asks for the page again and shows what has changed, and counts down. It asks
 * with the tag of what it shows, so that an unchanged page costs one empty answer, and a server that was started again is
 * found by the next question.
 */
export const SCRIPT = `"use strict";
(() => {
  const live = document.getElementById("live");
  let tag = null;
  let pause = 700;
  const say = (text, lost) => {
    if (live.textContent !== text) live.textContent = text;
    live.classList.toggle("lost", lost);
  };
  const words = (ms) => {
    const s = Math.round(Math.abs(ms) / 1000);
    if (s < 90) return s + " s";
    if (s < 5400) return Math.round(s / 60) + " min";
    if (s < 129600) return Math.round(s / 3600) + " h";
    return Math.round(s / 86400) + " d";
  };
  let ahead = 0;
  const tick = () => {
    const now = Date.now() + ahead;
    for (const time of document.querySelectorAll("time[data-at], time[data-due]")) {
      const at = Number(time.dataset.due ?? time.dataset.at);
      const text = at > now ? " in " + words(at - now) : " " + words(now - at) + " ago";
      let small = time.querySelector("small");
      if (small === null) small = time.appendChild(document.createElement("small"));
      if (small.textContent !== text) small.textContent = text;
    }
  };
  const isBusy = () => {
    const main = document.getElementById("main");
    const selection = getSelection();
    return main.querySelector("input:focus, select:focus") !== null ||
      (selection !== null && !selection.isCollapsed && main.contains(selection.anchorNode));
  };
  const keep = (old, fresh) => {
    for (const open of old.querySelectorAll("details[open][id]")) {
      const same = fresh.querySelector("#" + CSS.escape(open.id));
      if (same !== null) same.open = true;
    }
  };
  const show = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    const old = document.getElementById("main");
    if (fresh === null) return;
    keep(old, fresh);
    const scrolled = [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    const focused = document.activeElement?.getAttribute?.("href") ?? null;
    old.replaceChildren(...[...fresh.childNodes].map((node) => document.adoptNode(node)));
    [...old.querySelectorAll(".scroll")].forEach((each, index) => { each.scrollLeft = scrolled[index] ?? 0; });
    if (focused !== null) old.querySelector('a[href="' + CSS.escape(focused) + '"]')?.focus({ preventScroll: true });
    tick();
  };
  const ask = async () => {
    if (document.hidden || isBusy()) return;
    try {
      const answer = await fetch(location.href, { cache: "no-store", headers: tag === null ? {} : { "if-none-match": tag } });
      const clock = Number(answer.headers.get("x-clock"));
      if (clock > 0) ahead = clock - Date.now();
      if (answer.status === 200 || answer.status === 404) {
        const first = tag === null;
        tag = answer.headers.get("etag");
        const text = await answer.text();
        if (!first || answer.status === 200) show(text);
      } else if (answer.status !== 304) throw new Error(String(answer.status));
      pause = 700;
      say("live", false);
    } catch {
      pause = Math.min(pause * 1.5, 5000);
      say("connection lost, trying again", true);
    }
  };
  const loop = async () => { await ask(); setTimeout(loop, pause); };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) void ask(); });
  setInterval(tick, 1000);
  tick();
  void loop();
})();
`;
