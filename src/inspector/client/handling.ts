/**
 * In the browser: handles a person's acts on a page. Links and forms work without this script, which only saves a
 * reload.
 */

export const HANDLING = `
  // What is copied stands on the page: nothing is copied that cannot be seen.
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
