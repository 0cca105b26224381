/** An answer whose body is a single text, before the way of sending is chosen. */

/** Status, headers and text of an answer; a null text is an answer without a body. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string | null;
}

/** The answer to a request that came by `fetch`. */
export function responseOf({ status, headers, text }: WholeAnswer): Response {
  return new Response(text, { status, headers });
}
