/** Judges answers by the OpenAPI document, with a reader of JSON Schema that is not ours. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { ERRORS, type ErrorKind } from "../../src/errors/error-table.ts";
import { z } from "zod";
import { openApiDocument } from "../../src/index.ts";

/** An answer, and what asked for it. */
export interface JudgedAnswer {
  readonly method: string;
  /** As the document has it, such as "/v1/quotes/{quoteId}"; "none" where there is nothing at the path. */
  readonly route: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, object>>;
}
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>
  >;
}

const DOCUMENT = "document";
/** Headers that mean something to a caller: each has to be described where it comes. */
const TOLD_HEADER =
  /^(x-request-id|x-service|ratelimit|retry-after|location|www-authenticate|idempotent-replayed)/;
/** What only a program that gives itself away says: paths, stacks, parsers, drivers, nodes, our own secrets. */
const GIVEN_AWAY =
  /\bat \S+ \(|node:internal|node_modules|\.ts:\d|\.js:\d|SQLITE|Kysely|Zod|ECONN|ENOTFOUND|http:\/\/local|JSON at position|Unexpected token|psk?_test_[0-9a-f]{32}_/;

/** What is refused is not repeated at length. */
const MAX_REFUSAL_LENGTH = 8_192;

/** The code of an error body, "" when it is none. */
export function codeOf(text: string): string {
  return /^\{"error":\{"code":"([A-Z_]+)"/.exec(text)?.[1] ?? "";
}

/** Reads the document once; each schema is compiled when it is first met. */
export class AnswerJudge {
  readonly #document = openApiDocument() as unknown as Document;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor() {
    this.#ajv.addSchema(this.#document, DOCUMENT);
  }

  /** As `problemsOf`; also what should never come while all that the service needs is well. */
  problemsWhenWell(answer: JudgedAnswer): readonly string[] {
    return [...unwell(answer), ...this.problemsOf(answer)];
  }

  /** What is wrong with an answer, in sentences; empty when nothing is. */
  problemsOf(answer: JudgedAnswer): readonly string[] {
    const { method, route, text } = answer;
    const found: string[] = [];
    const given = GIVEN_AWAY.exec(text);
    // Signed bytes and addresses of an answer may spell anything.
    if (given !== null && answer.status >= 400) found.push(`gives itself away: ${given[0]}`);
    const requestId = answer.headers.get("x-request-id") ?? "";
    if (!/^req_[0-9a-f]{32}$/.test(requestId)) found.push("has no X-Request-Id");
    if (answer.status >= 400 && text.length > MAX_REFUSAL_LENGTH) found.push(`has ${text.length} characters`);
    const operation = this.#document.paths[route]?.[method === "HEAD" ? "get" : method.toLowerCase()];
    if (operation === undefined) return [...found, ...problemsOutside(answer)];
    const pointer = `#/paths/${escaped(route)}/${method === "HEAD" ? "get" : method.toLowerCase()}/responses`;
    const response = operation.responses[answer.status];
    if (response === undefined) return [...found, `is not described to answer ${answer.status}`];
    const at = response.$ref ?? `${pointer}/${answer.status}`;
    return [...found, ...this.#problemsBy(at, answer)];
  }

  /** Headers and body, by the response that stands at this pointer. */
  *#problemsBy(pointer: string, { method, headers, text }: JudgedAnswer): Iterable<string> {
    const response = partAt(this.#document, pointer) as Response;
    const described = new Map(
      Object.entries(response.headers ?? {}).map(([name, { $ref }]) => [name.toLowerCase(), $ref]),
    );
    for (const [name, value] of headers) {
      const ref = described.get(name);
      if (ref !== undefined) yield* this.#mismatch(`${ref}/schema`, value, `header ${name}`);
      else if (TOLD_HEADER.test(name)) yield `has an undescribed header ${name}`;
    }
    if (method === "HEAD") return;
    const [mediaType = ""] = (headers.get("content-type") ?? "").split(";");
    if (response.content?.[mediaType] === undefined) {
      yield `is described to be ${Object.keys(response.content ?? {}).join()}, not ${mediaType}`;
      return;
    }
    const body: unknown = mediaType === "application/json" ? JSON.parse(text) : text;
    yield* this.#mismatch(`${pointer}/content/${escaped(mediaType)}/schema`, body, "body");
  }

  *#mismatch(pointer: string, value: unknown, what: string): Iterable<string> {
    const validate = this.#compiled.get(pointer) ?? this.#ajv.compile({ $ref: `${DOCUMENT}${pointer}` });
    this.#compiled.set(pointer, validate);
    if (validate(value)) return;
    yield `${what}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 500)}`;
  }
}

function* unwell({ status, text }: JudgedAnswer): Iterable<string> {
  const code = codeOf(text);
  if (status >= 500 && code !== "ROUTING_UNAVAILABLE") yield `is ${status} ${code} though everything is well`;
}

/** Where no operation stands there is an error of the table, or the answer to OPTIONS. */
function* problemsOutside({ method, route, status, text }: JudgedAnswer): Iterable<string> {
  if (status === 204 && method === "OPTIONS") return;
  if (method === "HEAD") return;
  const code = codeOf(text);
  const kinds: Readonly<Record<string, ErrorKind>> = ERRORS;
  const kind = kinds[code];
  const expected = ["INVALID_API_KEY", "RATE_LIMIT_EXCEEDED", "VALIDATION_ERROR"];
  if (
    kind === undefined ||
    ![...expected, route === "none" ? "NOT_FOUND" : "METHOD_NOT_ALLOWED"].includes(code)
  ) {
    yield `answers ${status} ${code} where there is no operation`;
    return;
  }
  if (status !== kind.status) yield `${code} has the status ${status}`;
  const details = kind.details
    .extend({ requestId: z.string(), docUrl: z.literal(`/v1/docs#${code}`) })
    .strict();
  const body = z.strictObject({
    error: z.strictObject({ code: z.literal(code), message: z.literal(kind.message), details }),
  });
  const parsed = body.safeParse(JSON.parse(text));
  if (!parsed.success) yield `body: ${parsed.error.message}`;
}

function partAt(document: object, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>(
      (part, name) =>
        (part as Readonly<Record<string, unknown>>)[
          name.replaceAll("~1", "/").replaceAll("%7B", "{").replaceAll("%7D", "}")
        ],
      document,
    );
}

/** A name as a part of a JSON pointer in a URI. */
function escaped(name: string): string {
  return name.replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D");
}
