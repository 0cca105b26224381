/** The OpenAPI 3.1 document, made of what the endpoints, the errors and the notices say about themselves. */
import { ERRORS } from "../../error-table.ts";
import type { ErrorCode } from "../../errors.ts";
import { errorsOf } from "../contract/endpoint-errors.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { HEADERS, IDEMPOTENCY_KEY } from "./headers.ts";
import { operationOf } from "./operation.ts";
import { loneErrors, responseComponents } from "./responses.ts";
import { schemaComponents, type Json } from "./schemas.ts";
import { TAGS } from "../contract/tags.ts";
import { webhookOperations } from "./webhooks.ts";

const INFO = {
  title: "paystate payments",
  version: "1",
  summary: "Sends, payrolls and swaps on Solana.",
  description: `Amounts are decimal strings in whole units of their asset. Times are ISO 8601 in UTC.

Errors are \`{ error: { code, message, details } }\`: the code decides the HTTP status and the details, which always hold \`requestId\`; \`details.reason\` tells apart what one code has several of.

Any POST takes an \`Idempotency-Key\`. Everything belongs to the account of the key, and so do limits. A path that does not exist is NOT_FOUND, and a method that a path does not take METHOD_NOT_ALLOWED with an \`Allow\` header.`,
  license: { name: "MIT", identifier: "MIT" },
};

const KEY = {
  type: "http",
  scheme: "bearer",
  description:
    "An API key. `x-scope` of an operation is what the key must be allowed to do; `any` key will do for `any`.",
};

/** The document, but for its servers: where the endpoints stand is not known here. */
export function describeEndpoints(endpoints: readonly Endpoint[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const { path, method } = endpoint;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: INFO,
    security: [{ key: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhookOperations(),
    components: {
      securitySchemes: { key: KEY },
      parameters: { "Idempotency-Key": IDEMPOTENCY_KEY },
      headers: HEADERS,
      responses: responseComponents(inOrder(endpoints.flatMap(loneErrors))),
      schemas: schemaComponents(inOrder(endpoints.flatMap(errorsOf))),
    },
  };
}

/** The codes without duplicates, in the order of the table. */
function inOrder(codes: readonly ErrorCode[]): readonly ErrorCode[] {
  const all = new Set(codes);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => all.has(code));
}
