/** The script for the browser, put together from its parts. Pages are complete without it. */
import { PIECE_BEGINS } from "../live/page-pieces.ts";

const COUNTING = `
  let ahead = 0;
  const words = (ms) => {
    const s = Math.round(Math.abs(ms) / 1000);
    if (s < 90) return s + " s";
    if (s < 5400) return Math.floor(s / 60) + " min" + (s < 600 ? " " + (s % 60) + " s" : "");
    if (s < 86400) return Math.floor(s / 3600) + " h" + (s % 3600 < 60 ? "" : " " + Math.floor((s % 3600) / 60) + " min");
    return Math.floor(s / 86400) + " d" + (s % 86400 < 3600 ? "" : " " + Math.floor((s % 86400) / 3600) + " h");
  };
  const count = () => {
    const now = Date.now() + ahead;
    for (const time of document.querySelectorAll("time[data-at], time[data-due]")) {
      const at = Number(time.dataset.due ?? time.dataset.at);
      const text = at > now ? " in " + words(at - now) : " " + words(now - at) + " ago";
      let small = time.querySelector("small");
      if (small === null) small = time.appendChild(document.createElement("small"));
      if (small.textContent !== text) small.textContent = text;
    }
  };
  const setClock = (at) => { if (at > 0) ahead = at - Date.now(); };
  setClock(Number(document.body.dataset.clock));
  setInterval(count, 1000);
  count();
`;

const MORPHING = `
  const isKept = (node) => node.nodeName === "SMALL" && node.parentNode?.nodeName === "TIME";
  // The property "id" of a form is its field of that name.
  const keyOf = (node) => (node.nodeType === 1 ? node.getAttribute("id") || node.dataset?.key || "" : "");
  const isAlike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
  const attributes = (old, fresh) => {
    for (const { name } of [...old.attributes]) {
      // Details that a person has opened stay open.
      if (!fresh.hasAttribute(name) && !(old.nodeName === "DETAILS" && name === "open")) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  };
  const morph = (old, fresh) => {
    if (old.nodeType !== 1) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    if (fresh.hasAttribute("data-same") || old.isEqualNode(fresh)) return;
    attributes(old, fresh);
    const byKey = new Map();
    for (const child of old.children) if (keyOf(child) !== "") byKey.set(keyOf(child), child);
    // Removed elements go first: what stays is not moved around it, for a moved element loses the focus.
    const stays = new Set([...fresh.children].map(keyOf));
    for (const [key, child] of byKey) if (!stays.has(key)) child.remove();
    let at = old.firstChild;
    for (const next of [...fresh.childNodes]) {
      while (at !== null && isKept(at)) at = at.nextSibling;
      const known = byKey.get(keyOf(next));
      if (known !== undefined && known !== at && known.nodeName === next.nodeName) {
        old.insertBefore(known, at);
        at = known;
      }
      if (at !== null && isAlike(at, next)) {
        const after = at.nextSibling;
        morph(at, next);
        at = after;
      } else {
        old.insertBefore(document.adoptNode(next), at);
      }
    }
    while (at !== null) {
      const after = at.nextSibling;
      if (!isKept(at)) at.remove();
      at = after;
    }
  };
  const show = (text) => {
    const fresh = new DOMParser().parseFromString("<main>" + text + "</main>", "text/html").querySelector("main");
    const main = document.getElementById("main");
    for (const name of main.getAttributeNames()) fresh.setAttribute(name, main.getAttribute(name));
    const focused = document.activeElement;
    morph(main, fresh);
    // A row that moved within its list keeps the focus.
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
    count();
  };
`;

/** In the browser: follows the page by server-sent events, and reconnects when the server was restarted. */
const FOLLOWING = `
  const live = document.getElementById("live");
  const main = document.getElementById("main");
  const base = document.body.dataset.base;
  let source = null;
  let again = 0;
  const say = (text, lost) => {
    if (live.textContent !== text) live.textContent = text;
    live.classList.toggle("lost", lost);
  };
  // The page that this stream has sent last, cut as the server cuts it.
  let pieces = [];
  // A row that stays as it is need not be read again: its place is enough.
  const stub = (piece) =>
    piece.replace(/^<tr\\s+data-key="([^"]*)"[^>]*>[^]*<\\/tr>(\\s*)$/, '<tr data-key="$1" data-same></tr>$2');
  const take = (changes) => {
    const before = pieces;
    const parts = changes.map((each) => (typeof each === "string" ? [each] : before.slice(each[0], each[0] + each[1])));
    pieces = parts.flat();
    show(parts.map((part, at) => (typeof changes[at] === "string" ? part : part.map(stub)).join("")).join(""));
    if (main.querySelector("[data-same]") !== null) show(pieces.join(""));
  };
  const close = () => { source?.close(); source = null; clearTimeout(again); };
  const follow = () => {
    close();
    if (document.hidden || main.dataset.live === undefined) return;
    const page = location.pathname.slice(base.length) + location.search;
    const asked = new URLSearchParams({ page, tag: main.dataset.tag ?? "" });
    source = new EventSource(base + "/live?" + asked);
    source.onopen = () => say("live", false);
    source.onerror = () => {
      say("connection lost, trying again", true);
      // A browser gives up where it was answered anything but a stream.
      if (source?.readyState === 2) again = setTimeout(follow, 1000);
    };
    source.addEventListener("page", (event) => {
      const { clock, main: text, changes } = JSON.parse(event.data);
      setClock(clock);
      main.dataset.tag = event.lastEventId;
      if (text === undefined) take(changes);
      else {
        pieces = text.split(${String(PIECE_BEGINS)});
        show(text);
      }
      say("live", false);
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : follow()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
  follow();
`;

const HANDLING = `
  // The copied text stands on the page: nothing is copied that cannot be seen.
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-copies]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copies)?.textContent ?? "";
    navigator.clipboard?.writeText(text).then(() => say("copied", false), () => say("not copied: select the text", true));
  });
  // Scrubbing: the page of another step is shown in place.
  document.addEventListener("input", (event) => {
    const slider = event.target;
    if (slider.type !== "range" || slider.form === null) return;
    const url = new URL(slider.form.action);
    for (const [name, value] of new FormData(slider.form)) url.searchParams.set(name, value);
    void go(url);
  });
  let newest = 0;
  const go = async (url) => {
    const mine = (newest += 1);
    const answer = await fetch(url, { cache: "no-store" }).catch(() => null);
    if (answer === null || mine !== newest) return;
    const text = await answer.text();
    if (mine !== newest) return;
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    if (fresh === null) return;
    history.replaceState(null, "", url);
    for (const name of ["data-tag", "data-live"]) {
      const value = fresh.getAttribute(name);
      if (value === null) main.removeAttribute(name); else main.setAttribute(name, value);
    }
    show(fresh.innerHTML);
    follow();
    if (main.dataset.live === undefined) say("stands still", false);
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea")) return;
    event.preventDefault();
    document.getElementById("search")?.focus();
  });
`;

/** Served as a file of its own: the pages allow no other script. */
export const SCRIPT = `"use strict";
(() => {
${COUNTING}
${MORPHING}
${FOLLOWING}
${HANDLING}
})();
`;
