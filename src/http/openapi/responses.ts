/** The headers of requests, and the answers of an endpoint: its success, and its errors by their statuses. */
import { ERRORS, type ErrorKind } from "../../errors/error-table.ts";
import type { ErrorCode } from "../../errors/errors.ts";
import { errorsOf, type DescribedBody, type Endpoint, type KeyedEndpoint } from "../contract/endpoint.ts";
import { examplesOf } from "./error-examples.ts";
import { errorName, reference, schemaOf, type Json } from "./schemas.ts";
import { REQUEST_ID } from "../contract/examples.ts";

export function responsesOf(endpoint: Endpoint): Json {
  const { status } = endpoint.answer;
  return { [status]: success(endpoint), ...errorResponses(errorsOf(endpoint)) };
}

export function contentOf({ schema, examples }: DescribedBody, mediaType = "application/json"): Json {
  const shown = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  return { [mediaType]: { schema: schemaOf(schema), examples: Object.fromEntries(shown) } };
}

/** The response that an error has where no other error has its status, by name. */
export function responseComponents(codes: readonly ErrorCode[]): Json {
  return Object.fromEntries(codes.map((code) => [errorName(code), errorResponse([code])]));
}

/** The codes that have their status for themselves, of an endpoint. */
export function loneErrors(endpoint: Endpoint): readonly ErrorCode[] {
  return [...byStatus(errorsOf(endpoint)).values()].flatMap((codes) => (codes.length === 1 ? codes : []));
}

function success(endpoint: Endpoint): Json {
  const { summary } = endpoint;
  if (endpoint.scope === "none") {
    const { mediaType, schema } = endpoint.answer;
    const content = { [mediaType]: { schema: schemaOf(schema) } };
    return { description: summary, headers: answerHeaders([]), content };
  }
  return {
    description: summary,
    headers: answerHeaders(successHeaders(endpoint)),
    content: contentOf(endpoint.answer, endpoint.answer.mediaType),
  };
}

function successHeaders(endpoint: KeyedEndpoint): readonly HeaderName[] {
  const names: HeaderName[] = [];
  if (endpoint.method === "POST") names.push("Idempotent-Replayed");
  if (endpoint.location !== undefined) names.push("Location");
  return names;
}

function errorResponses(codes: readonly ErrorCode[]): Json {
  return Object.fromEntries(
    [...byStatus(codes)].map(([status, these]) => {
      const [only, ...others] = these;
      const isLone = only !== undefined && others.length === 0;
      return [status, isLone ? reference("responses", errorName(only)) : errorResponse(these)];
    }),
  );
}

function errorResponse(codes: readonly ErrorCode[]): Json {
  const kinds = codes.map((code): ErrorKind => ERRORS[code]);
  const names = [...new Set(kinds.flatMap(({ header }) => (header === undefined ? [] : [header.name])))];
  const refs = codes.map((code) => reference("schemas", errorName(code)));
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join("\n\n"),
    headers: answerHeaders(names.filter((name) => name !== "Allow")),
    content: {
      "application/json": {
        schema: refs.length === 1 ? refs[0] : { anyOf: refs },
        examples: examplesOf(codes),
      },
    },
  };
}

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<string, readonly ErrorCode[]> {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].toSorted((a, b) => a - b);
  return new Map(
    statuses.map((status) => [String(status), codes.filter((code) => ERRORS[code].status === status)]),
  );
}

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

type HeaderName = keyof typeof HEADERS;

/** The headers of an answer: the given headers, and the headers of every counted answer. */
function answerHeaders(names: readonly HeaderName[]): Json {
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
