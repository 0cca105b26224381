/** An inspector below the handler that it is mounted in. */
import { INSPECTOR_PATH, type Inspector } from "../inspector/inspector.ts";
import type { Connection } from "./node-listener.ts";

/** The answer of an inspector that stands anywhere below a path: its links lead back to where it was asked. */
export function inspectorAnswer(
  inspector: Inspector,
  request: Request,
  { peer, httpVersion, mountedAt, readBefore }: Connection,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const above = pathname.slice(0, Math.max(0, pathname.lastIndexOf(INSPECTOR_PATH)));
  // A link that begins with two slashes leads to another site.
  const base = `${mountedAt}${above}${INSPECTOR_PATH}`.replace(/^\/+/, "/");
  return inspector.respond({ request, peer, httpVersion, base, readBefore });
}
