/**
 * Decides who may use the inspector: programs and people on this machine during development, else viewers whom the host
 * admits.
 */
import type { InspectedEngine } from "../engine/create-engine.ts";
import { parseUrl } from "../core/parse-url.ts";

/** Decides about one request. An exception refuses the request. */
export type Authorize = (request: Request) => boolean | Promise<boolean>;

/** A request with what is known of where it comes from. */
export interface ViewerRequest {
  readonly request: Request;
  /** The address of the other end of the socket, null when there is no socket. */
  readonly peer: string | null;
  /** The HTTP version, such as "1.1"; null without a socket. */
  readonly httpVersion: string | null;
}

const LOOPBACK_HOST = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** Whether an IP address is a loopback address, which no other machine reaches. */
export function isLoopback(ip: string): boolean {
  return /^(?:127\.|::1$|::ffff:127\.)/.test(ip);
}

/** A proxy on this machine makes every stranger look as if he were here. These are the headers that proxies add. */
const PROXIED =
  /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|x-cluster-client-ip|x-original-.*|x-envoy-.*|x-amzn-trace-id|cf-.*|cdn-loop|fastly-client-ip|fly-client-ip)$/;

/** Whether a page of a foreign site has made the request, as browsers report. */
export function isOfAnotherSite({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
}

/**
 * Whether the URL names this machine. A foreign page could read this one through a foreign host name that leads here.
 */
export function isUnderOwnName({ url }: Request): boolean {
  return LOOPBACK_HOST.test(new URL(url).hostname);
}

/** Whether the request comes from this machine, and shows no sign of a proxy. */
export function isFromHere({ request, peer, httpVersion }: ViewerRequest): boolean {
  const isElsewhere = peer !== null && !isLoopback(peer);
  // No browser speaks HTTP/1.0 any more, but nginx does to the server behind it, with its own Host and no further
  // header.
  const isOfOldProxy = httpVersion === "1.0";
  const isProxied = [...request.headers.keys()].some((name) => PROXIED.test(name));
  return !isElsewhere && !isOfOldProxy && !isProxied && !isShownElsewhere(request);
}

/** Whether the page that asks stands under a name that is not this machine's: a proxy without headers has put its own in. */
function isShownElsewhere({ headers }: Request): boolean {
  return ["referer", "origin"].some((name) => {
    const { protocol, hostname } = parseUrl(headers.get(name) ?? "") ?? { protocol: "", hostname: "" };
    return /^https?:$/.test(protocol) && !LOOPBACK_HOST.test(hostname);
  });
}

/** The reason to refuse, as a sentence, or null where the viewer may look. */
export async function refusalOf(
  viewer: ViewerRequest,
  inspected: Pick<InspectedEngine, "isProduction">,
  authorize: Authorize | null,
): Promise<string | null> {
  const { request } = viewer;
  if (isOfAnotherSite(request)) {
    return "The inspector answers no request that another site has made: type its address, or copy the link.";
  }
  if (authorize !== null) {
    return (await isAdmitted(authorize, request)) ? null : "You are not admitted to the inspector.";
  }
  if (inspected.isProduction()) {
    return "The inspector is off here: this service works, or may work, with real money. Give inspector: { authorize } to say who may look.";
  }
  if (!isUnderOwnName(request)) {
    return "The inspector answers only under the name of this machine, such as http://127.0.0.1. Give inspector: { authorize } to open it to others.";
  }
  if (!isFromHere(viewer)) {
    return "The inspector answers only this machine, and no proxy. Give inspector: { authorize } to open it to others.";
  }
  return null;
}

async function isAdmitted(authorize: Authorize, request: Request): Promise<boolean> {
  try {
    // A host in plain JavaScript may answer anything: only true admits.
    return Object.is(await authorize(request), true);
  } catch {
    return false;
  }
}
