/**
 * In the browser: turns the shown page into its new version without touching equal parts, so that focus, selection,
 * open details and scroll position stay.
 */

export const MORPHING = `
  const isKept = (node) => node.nodeName === "SMALL" && node.parentNode?.nodeName === "TIME";
  // The property "id" of a form is its field of that name.
  const keyOf = (node) => (node.nodeType === 1 ? node.getAttribute("id") || node.dataset?.key || "" : "");
  const isAlike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
  const attributes = (old, fresh) => {
    for (const { name } of [...old.attributes]) {
      // What a person has opened stays open.
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
    // What is gone goes first: what stays is not moved around it, for a moved element loses the focus.
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
