/** Answers of the inspector: every one has headers that let nothing else in. */

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Other sites learn nothing; a form of ours has to say where it is from.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
} as const;

/** Headers besides those of every answer. */
type MoreHeaders = Readonly<Record<string, string>>;

/** An answer of this type. */
export function typed(
  body: string | ReadableStream<Uint8Array> | null,
  type: string,
  headers: MoreHeaders = {},
): Response {
  return new Response(body, { headers: { ...HEADERS, ...headers, "content-type": type } });
}

/** A whole page. */
export function pageAnswer(status: number, text: string, headers: MoreHeaders): Response {
  return new Response(text, {
    status,
    headers: { ...HEADERS, ...headers, "content-type": "text/html; charset=utf-8" },
  });
}

/** The browser has the page already. */
export function unchanged(headers: MoreHeaders): Response {
  return new Response(null, { status: 304, headers: { ...HEADERS, ...headers } });
}

/** Another page, asked for with GET. */
export function redirect(to: string): Response {
  return new Response(null, { status: 303, headers: { ...HEADERS, location: to } });
}

/** An answer of one sentence in plain text. */
export function plain(status: number, sentence: string, headers: MoreHeaders = {}): Response {
  return new Response(`${sentence}\n`, {
    status,
    headers: { ...HEADERS, ...headers, "content-type": "text/plain; charset=utf-8" },
  });
}
