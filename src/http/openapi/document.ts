/** The OpenAPI 3.1 document, made of the schemas that requests are checked by and answers are told in. */
import { z } from "zod";
import { ERRORS } from "../../error-table.ts";
import type { ErrorCode } from "../../errors.ts";
import { ANSWERS } from "./answers.ts";
import { BODY_REFUSALS, COMMON_REFUSALS, OPERATIONS, POST_REFUSALS, QUERY_REFUSALS } from "./operations.ts";

/** What the document is told of an endpoint by the table of routes. */
export interface DescribedRoute {
  readonly method: string;
  /** In Hono's syntax. */
  readonly path: string;
  readonly scope: string;
}

/** An OpenAPI document: JSON of a shape that is its readers' business. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** The path as OpenAPI writes it. */
function pathOf({ path }: Pick<DescribedRoute, "path">): string {
  return path.replaceAll(/:(\w+)(\{.*?\+\})?/g, "{$1}");
}

/** Describes these endpoints. Throws for one that nobody has described. */
export function openApiDocument(routes: readonly DescribedRoute[]): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = pathOf(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, path) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Payments", version: "1", description: INFO },
    security: [{ key: [] }],
    paths,
    components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
  };
}

const INFO =
  "Amounts are decimal strings in whole units of their asset. Errors are `{ error: { code, message, details } }`: the code decides the HTTP status and the details, which always hold `requestId`; `details.reason` tells apart what one code has several of. Any POST takes an `Idempotency-Key`.";

function operationOf({ method, scope }: DescribedRoute, path: string): OpenApiDocument {
  const operation = OPERATIONS[`${method} ${path}`];
  if (operation === undefined) throw new Error(`${method} ${path} is not described`);
  const { summary, description, request, query, status, answer, refusals } = operation;
  const parameters = [...pathParameters(path), ...(query === undefined ? [] : queryParameters(query))];
  const codes = [
    ...[...refusals, ...COMMON_REFUSALS],
    ...(request === undefined ? [] : BODY_REFUSALS),
    ...(method === "POST" ? POST_REFUSALS : []),
    ...(query === undefined ? [] : QUERY_REFUSALS),
  ];
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    "x-scope": scope,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined ? {} : { requestBody: { required: true, content: json(schemaOf(request)) } }),
    responses: {
      [status]: { description: summary, content: json(schemaOf(ANSWERS[answer])) },
      ...refusalsByStatus(codes),
    },
  };
}

function pathParameters(path: string): readonly object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
  }));
}

/** Each field of the schema is a parameter that may be left out. */
function queryParameters(query: z.ZodObject): readonly object[] {
  return Object.entries(query.shape).map(([name, schema]) => ({
    ...{ name, in: "query", required: false, schema: schemaOf(schema as z.ZodType) },
  }));
}

function refusalsByStatus(codes: readonly ErrorCode[]): Record<string, unknown> {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].toSorted(
    (one, other) => one - other,
  );
  return Object.fromEntries(
    statuses.map((status) => {
      const these = codes.filter((code) => ERRORS[code].status === status);
      const schemas = these.map(errorSchema);
      return [String(status), { description: these.join(", "), content: json({ anyOf: schemas }) }];
    }),
  );
}

function errorSchema(code: ErrorCode): object {
  const details = z.intersection(ERRORS[code].details, z.object({ requestId: z.string() }));
  return schemaOf(z.object({ error: z.object({ code: z.literal(code), message: z.string(), details }) }));
}

/** Open to fields that a later version adds: callers that check answers must not break by them. */
function schemaOf(schema: z.ZodType): object {
  const described: { $schema?: unknown } = z.toJSONSchema(schema, { io: "input" });
  // OpenAPI 3.1 has this dialect by itself.
  delete described.$schema;
  return described;
}

function json(schema: object): object {
  return { "application/json": { schema } };
}
