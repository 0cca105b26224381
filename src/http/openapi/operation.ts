/** Converts an endpoint into an operation of the OpenAPI document. */
import type { z } from "zod";
import type { Endpoint, KeyedEndpoint } from "../contract/endpoint.ts";
import { scopeOf } from "../contract/limits.ts";
import { parameterNames, pathParameter } from "../contract/path-parameters.ts";
import { jsonContent, responsesOf } from "./responses.ts";
import { reference, schemaOf, type Json } from "./schemas.ts";

/** Throws for a path with a part that is not described. */
export function operationOf(endpoint: Endpoint): Json {
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
  const { description, example, characters } = pathParameter(name);
  const schema = { type: "string", ...(characters === undefined ? {} : { pattern: `^${characters}$` }) };
  return { name, in: "path", required: true, description, schema, example };
}

/** Fields of the schema become optional parameters. */
function queryParameters({ query }: KeyedEndpoint): readonly Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field as z.ZodType);
    return { name, in: "query", required: false, ...(description !== undefined && { description }), schema };
  });
}

function headerParameters({ method }: KeyedEndpoint): readonly Json[] {
  return method === "POST" ? [reference("parameters", "Idempotency-Key")] : [];
}

function bodyOf(endpoint: Endpoint): Json {
  if (endpoint.scope === "none" || endpoint.body === undefined) return {};
  return { requestBody: { required: true, content: jsonContent(endpoint.body) } };
}
