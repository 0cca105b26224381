/** In the browser: shows how long ago a moment was, or how far ahead it is, by the clock of the service. */

export const COUNTING = `
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
