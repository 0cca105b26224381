/** In the browser: follows the page by server-sent events, and reconnects when the server was restarted. */
import { PIECE_BEGINS } from "../live/page-pieces.ts";

export const FOLLOWING = `
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
