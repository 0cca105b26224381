/** An answer whose body is one text, while it is still open how it leaves. */

/** What is answered; null is an answer without a body. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string | null;
}

/** The answer to a request that came by `fetch`. */
export function responseOf({ status, headers, text }: WholeAnswer): Response {
  return new Response(text, { status, headers });
}
