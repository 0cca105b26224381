/** The answers of an endpoint: its success, and its errors by their statuses. */
import { ERRORS, type ErrorKind } from "../../error-table.ts";
import type { ErrorCode } from "../../errors.ts";
import { errorsOf } from "../contract/endpoint-errors.ts";
import type { DescribedBody, Endpoint, KeyedEndpoint } from "../contract/endpoint.ts";
import { answerHeaders, type HeaderName } from "./headers.ts";
import { examplesOf } from "./error-examples.ts";
import { errorName, reference, schemaOf, type Json } from "./schemas.ts";

/** Every answer by its status. */
export function responsesOf(endpoint: Endpoint): Json {
  const { status } = endpoint.answer;
  return { [status]: success(endpoint), ...errorResponses(errorsOf(endpoint)) };
}

/** A JSON body with its examples. */
export function jsonContent({ schema, examples }: DescribedBody): Json {
  const shown = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  return { "application/json": { schema: schemaOf(schema), examples: Object.fromEntries(shown) } };
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
    content: jsonContent(endpoint.answer),
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
