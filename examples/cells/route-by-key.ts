/** One handler before several: a key that begins with the name of a cell is answered by that cell. */
import type { HttpHandler } from "paystate";

type Fetch = HttpHandler["fetch"];

/**
 * Takes `Authorization: Bearer north.psk_live_…` to the cell `north`, as `Bearer psk_live_…`. It looks nothing up and keeps
 * nothing, so there may be any number of it. What names no cell goes to the first one, which refuses its key, or shows the
 * documents that need none.
 */
export function routeByKey(cells: ReadonlyMap<string, Fetch>): Fetch {
  const [first] = cells.values();
  if (first === undefined) throw new TypeError("cells: expected at least one");
  return (request) => {
    const [, name = "", key = ""] =
      /^Bearer ([a-z0-9-]+)\.(.*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const cell = cells.get(name);
    if (cell === undefined) return first(request);
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${key}`);
    return cell(new Request(request, { headers }));
  };
}
