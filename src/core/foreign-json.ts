/** Parses JSON answers of foreign programs within bounds of size and depth, so that no answer stalls the parser. */
import { bytesWithin } from "./bytes-within.ts";

/** Levels of lists and objects in each other. Parsing a million of them takes the parser half a second. */
const MAX_DEPTH = 64;

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** The text of a body, or why it must not be parsed: it has more than `most` bytes, or is nested more than 64 deep. */
export async function foreignText(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
): Promise<{ readonly text: string } | { readonly fault: "too large" | "nested too deeply" }> {
  const bytes = body === null ? Buffer.of() : await bytesWithin(body, most);
  if (bytes === null) return { fault: "too large" };
  return isNestedTooDeeply(bytes) ? { fault: "nested too deeply" } : { text: bytes.toString("utf8") };
}

function isNestedTooDeeply(json: Uint8Array): boolean {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) isInText = !isInText;
    else if (isInText) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/**
 * Parses the JSON body of a response of a stranger: for a price source, `screen` or a signer of a host that asks another
 * service. Rejects when the body has more than `mostBytes` bytes, of which the rest is not read, when it is nested more than
 * 64 deep, and when it is no JSON. The error quotes nothing of the body.
 *
 * @example
 * ```ts
 * import { readForeignJson } from "paystate/ledger";
 *
 * const response = new Response('{"price":"151.2"}'); // in production `await fetch(url, { signal })`
 * console.log(await readForeignJson(response, 4_096)); // { price: '151.2' }
 * ```
 */
export async function readForeignJson({ body }: Pick<Response, "body">, mostBytes: number): Promise<unknown> {
  const read = await foreignText(body, mostBytes);
  if ("fault" in read) {
    throw new Error(
      `expected JSON of at most ${mostBytes} bytes and ${MAX_DEPTH} levels: the answer is ${read.fault}`,
    );
  }
  try {
    return JSON.parse(read.text);
  } catch {
    throw new Error("expected JSON: the answer is none");
  }
}
