/** Reads the contents of a request: body, query, and the headers about repetition. */
import type { RequestOptions } from "../payments/accounts/answer-once.ts";
import { sha256Hex } from "../payments/ids.ts";
import { bodyUse, type KeyedEndpoint } from "./contract/endpoint.ts";
import type { Connection } from "./node-listener.ts";
import { checkLength, parseJson, readBody, requireJson } from "./read-json-body.ts";
import { readQuery } from "./read-query.ts";

/** The contents of a request. */
export interface RequestContent {
  /** Undefined where no body is parsed. */
  readonly body: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly options: Pick<RequestOptions, "fingerprint" | "idempotencyKey">;
}

/** A request that nothing is read of. */
export const NOTHING_READ: RequestContent = { body: undefined, query: {}, options: {} };

/** Reads as much as the endpoint takes. Throws `VALIDATION_ERROR`, `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`. */
export async function readContents(
  request: Request,
  endpoint: KeyedEndpoint,
  { readBefore }: Connection,
): Promise<RequestContent> {
  const query = endpoint.query === undefined ? {} : readQuery(request.url, endpoint.query);
  const use = bodyUse(endpoint);
  if (use === "unread") return { ...NOTHING_READ, query };
  if (use === "json") requireJson(request.headers);
  const bytes = readBefore === null ? await readBody(request) : checkLength(readBefore());
  const idempotencyKey = request.headers.get("idempotency-key");
  const options = {
    fingerprint: sha256Hex(bytes),
    ...(idempotencyKey === null ? {} : { idempotencyKey }),
  };
  return { body: use === "json" ? parseJson(bytes) : undefined, query, options };
}
