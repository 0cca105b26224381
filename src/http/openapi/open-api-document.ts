/** The OpenAPI 3.1 document, made of what the endpoints, the errors and the notices say about themselves. */
import type { z } from "zod";
import { ENDPOINTS } from "../endpoints/every-endpoint.ts";
import { ERRORS } from "../../errors/error-table.ts";
import type { ErrorCode } from "../../errors/errors.ts";
import { errorsOf, type Endpoint, type KeyedEndpoint, TAGS } from "../contract/endpoint.ts";
import { exampleComponents } from "./error-examples.ts";
import {
  HEADERS,
  IDEMPOTENCY_KEY,
  loneErrors,
  responseComponents,
  contentOf,
  responsesOf,
} from "./responses.ts";
import { schemaComponents, type Json, reference, schemaOf } from "./schemas.ts";
import { webhookOperations } from "./webhooks.ts";
import { scopeOf } from "../contract/limits.ts";
import { parameterNames, pathParameter } from "../contract/path-parameters.ts";

/** An OpenAPI 3.1 document as plain JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** Options of `openApiDocument`. */
export interface OpenApiOptions {
  /** The URL of the endpoints, such as "https://pay.example/payments", without a slash at the end. Default "/". */
  readonly server?: string;
}

/**
 * Makes the OpenAPI 3.1 document that `GET /v1/openapi.json` answers: every endpoint with its parameters, bodies, statuses,
 * headers and errors, the notices that webhooks are sent, and examples. It is made at each call and belongs to the caller.
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 * import { openApiDocument } from "paystate";
 *
 * const document = openApiDocument({ server: "https://pay.example" });
 * writeFileSync("openapi.json", JSON.stringify(document, null, 2));
 * ```
 */
export function openApiDocument({ server = "/" }: OpenApiOptions = {}): OpenApiDocument {
  return withServer(describeEndpoints(ENDPOINTS), server);
}

export function withServer(described: OpenApiDocument, url: string): OpenApiDocument {
  const { openapi, info, ...more } = described;
  return { openapi, info, servers: [{ url }], ...more };
}

const INFO = {
  title: "paystate payments",
  version: "1",
  summary: "Sends, payrolls and swaps on Solana.",
  description: `Amounts are decimal strings in whole units of their asset. Times are ISO 8601 in UTC.

Errors are \`{ error: { code, message, details } }\`: the code decides the HTTP status and the details, which always hold \`requestId\` and \`docUrl\`, the section that tells what to do; \`details.reason\` tells apart what one code has several of.

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
  const errors = inOrder(endpoints.flatMap(errorsOf));
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
      schemas: schemaComponents(errors),
      examples: exampleComponents(errors),
    },
  };
}

/** The codes without duplicates, in the order of the table. */
function inOrder(codes: readonly ErrorCode[]): readonly ErrorCode[] {
  const all = new Set(codes);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => all.has(code));
}

/** Throws for a path with a part that is not described. */
function operationOf(endpoint: Endpoint): Json {
  const { operationId, tag, summary, description, scope } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    "x-scope": scope,
    "x-limit": scopeOf(endpoint.limit),
    ...(scope === "none" ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(endpoint),
    responses: responsesOf(endpoint),
  };
}

function parametersOf(endpoint: Endpoint): readonly Json[] {
  const path = parameterNames(endpoint.path).map(pathParameterOf);
  if (endpoint.scope === "none") return path;
  return [...path, ...queryParameters(endpoint), ...headerParameters(endpoint)];
}

function pathParameterOf(name: string): Json {
  return { name, in: "path", required: true, ...pathParameter(name), schema: { type: "string" } };
}

/** A field that may be left out becomes an optional parameter. */
function queryParameters({ query }: KeyedEndpoint): readonly Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field as z.ZodType);
    const required = !(field as z.ZodType).safeParse(undefined).success;
    return { name, in: "query", required, ...(description !== undefined && { description }), schema };
  });
}

function headerParameters({ method }: KeyedEndpoint): readonly Json[] {
  return method === "POST" ? [reference("parameters", "Idempotency-Key")] : [];
}

function bodyOf(endpoint: Endpoint): Json {
  if (endpoint.scope === "none" || endpoint.body === undefined) return {};
  return { requestBody: { required: true, content: contentOf(endpoint.body) } };
}
