/** The headers of requests and answers. */
import { REQUEST_ID } from "../contract/examples.ts";
import { type Json, reference } from "./schemas.ts";

/** Headers of answers, by name. */
export const HEADERS = {
  "X-Request-Id": {
    description: "Names this request in the operator's log. Every answer has it.",
    schema: { type: "string", examples: [REQUEST_ID] },
  },
  "RateLimit-Policy": {
    description:
      "The limit that the request counted against: its scope, `q` requests within `w` seconds (IETF draft 11).",
    schema: { type: "string", examples: ['"reads";q=120;w=60'] },
  },
  RateLimit: {
    description: "What is left of it: `r` requests; after `t` seconds the oldest one counts no more.",
    schema: { type: "string", examples: ['"reads";r=119;t=60'] },
  },
  "Retry-After": {
    description: "Whole seconds to wait before the same request may be answered otherwise.",
    schema: { type: "string", pattern: "^[0-9]+$", examples: ["30"] },
  },
  "WWW-Authenticate": {
    description: "How to authenticate.",
    schema: { type: "string", const: "Bearer" },
  },
  Location: {
    description: "Where what was created is found.",
    schema: { type: "string", examples: ["/v1/transactions/tx_019abc0f8a3c4c1f9d02f4be9a17c3e5"] },
  },
  "Idempotent-Replayed": {
    description:
      "There when this answer was given before, to the same Idempotency-Key and body. It is the same byte for byte.",
    schema: { type: "string", const: "true" },
  },
} as const;

/** A header that answers may have. */
export type HeaderName = keyof typeof HEADERS;

/** The headers of an answer: the given headers, and the headers of every counted answer. */
export function answerHeaders(names: readonly HeaderName[]): Json {
  const all: readonly HeaderName[] = ["X-Request-Id", "RateLimit-Policy", "RateLimit", ...names];
  return Object.fromEntries(all.map((name) => [name, reference("headers", name)]));
}

/** The key under which an answer is kept. */
export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes the request safe to repeat: the same key with the same body gets the same answer, and nothing is done twice. With another body it is IDEMPOTENCY_KEY_REUSED. Only successes are kept. Unique per account and path.",
  schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
  example: "order-20270131-7",
} as const;
