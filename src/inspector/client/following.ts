/** In the browser: follows the page by server-sent events. A server that was started again is found by itself. */

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
      const { clock, main: text } = JSON.parse(event.data);
      setClock(clock);
      main.dataset.tag = event.lastEventId;
      show(text);
      say("live", false);
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : follow()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
  follow();
`;
