/** Types of an endpoint, for the router, the order of checks, the OpenAPI document and the pages. */
import type { z } from "zod";
import type { PaymentService } from "../../service/payment-service.ts";
import type { ErrorCode } from "../../errors/errors.ts";
import type { Immutable } from "../../core/immutable.ts";
import type { Answer, RequestOptions } from "../../payments/frame/accounts/answer-once.ts";
import type { Caller, Scope } from "../../payments/frame/accounts/caller.ts";
import type { DurableScope, LimitStatus } from "../../payments/frame/accounts/count-hit.ts";
import type { WindowName } from "./limits.ts";
import { ERRORS } from "../../errors/error-table.ts";

/** Tags by name, in the order of the document. */
export const TAGS = {
  Assets: "What can be paid, and what an address holds.",
  Quotes: "A price that holds for a short while. Every transaction uses one up.",
  Transactions: "Sends, payrolls and swaps, in wallet mode and in private mode.",
  Events: "What webhooks were told, for owners who lost deliveries.", // modules: webhooks
  Webhooks: "Receivers of notices, and their deliveries.", // modules: webhooks
  Account: "What a key may do.",
  Reference: "This description. It needs no key.",
} as const;

type TagName = keyof typeof TAGS;

/** The description of a JSON body: schema, and named examples. */
export interface DescribedBody<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, Immutable<z.input<Schema>>>>;
}

/** Description that every endpoint has. */
interface Described {
  /** The path in OpenAPI's syntax; `path-parameters.ts` describes its variable parts. */
  readonly path: string;
  /** The name of the method in generated clients. */
  readonly operationId: string;
  readonly tag: TagName;
  readonly summary: string;
  readonly description?: string;
}

type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/** An authenticated request whose headers and body were read. */
export interface Call<
  Path extends string = string,
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
> {
  readonly service: PaymentService;
  readonly caller: Caller;
  /** The variable parts of the path, decoded. */
  readonly path: Readonly<Record<PathNames<Path>, string>>;
  /** Parsed JSON; the service checks its shape, after it has looked for an answer that was given before. */
  readonly body: z.input<Body>;
  /** The query, numbers read as numbers; the service checks its shape. */
  readonly query: z.input<Query>;
  readonly options: RequestOptions;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  /** The account's standing with the limits that are counted here. */
  standings(): readonly LimitStatus[];
}

/** An endpoint for callers with a key. */
export interface KeyedEndpoint<
  Path extends string = string,
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
  Said extends z.ZodType = z.ZodType,
> extends Described {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: Path;
  /** The scope that the key needs; `any` for endpoints that describe the key itself. */
  readonly scope: Scope | "any";
  /** A durable limit is counted by the method of the service, across processes. */
  readonly limit: WindowName | DurableScope;
  /** Absent where no body is parsed. */
  readonly body?: DescribedBody<Body>;
  readonly query?: Query;
  /** Without a media type it is JSON. */
  readonly answer: DescribedBody<Said> & { readonly status: 200 | 201; readonly mediaType?: string };
  /** Errors of this endpoint alone; `errorsOf` adds the errors of its method, scope and limit. */
  readonly errors: readonly ErrorCode[];
  /** The path of the created resource, below the base path. */
  location?(created: Immutable<z.output<Said>>): string;
  serve(call: Call<Path, Body, Query>): Promise<Served<Immutable<z.output<Said>>>>;
}

/** A text that is made while it is sent: what it throws breaks the connection. */
export type TextStream = AsyncGenerator<string, void, undefined>;

/** The answer of an endpoint: a text, or one that is made while it is sent. */
export interface Served<Body> extends Omit<Answer<Body>, "text"> {
  readonly text: string | TextStream;
}

/** An answer without a key: a text, its media type, and the headers besides. */
export interface Page {
  readonly mediaType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The description of the API. */
export interface Reference {
  /** The OpenAPI document; `base` is where the endpoints stand, such as "/payments", and "" at the root. */
  document(base: string): Page;
}

/** An endpoint that needs no key. It is limited per client address and reads nothing but its path. */
export interface OpenEndpoint<
  Path extends string = string,
  Said extends z.ZodType = z.ZodType,
> extends Described {
  readonly method: "GET";
  readonly path: Path;
  readonly scope: "none";
  readonly limit: "documents";
  readonly answer: { readonly status: 200; readonly mediaType: string; readonly schema: Said };
  serve(reference: Reference, base: string): Page;
}

export type Endpoint = KeyedEndpoint | OpenEndpoint;

type NoBody = z.ZodUndefined;

/** A declared endpoint with its exact types, from which the types of the client follow. */
export interface DeclaredEndpoint<
  Name extends string,
  Method extends KeyedEndpoint["method"],
  Path extends string,
  Said extends z.ZodType,
  Body extends z.ZodType,
  Query extends z.ZodObject,
> extends KeyedEndpoint<Path, Body, Query, Said> {
  readonly operationId: Name;
  readonly method: Method;
}

export interface DeclaredOpenEndpoint<
  Name extends string,
  Path extends string,
  Said extends z.ZodType,
> extends OpenEndpoint<Path, Said> {
  readonly operationId: Name;
}

/** Declares an endpoint; the compiler checks function and examples against the schemas. */
export function endpoint<
  const Name extends string,
  const Method extends KeyedEndpoint["method"],
  const Path extends string,
  Said extends z.ZodType,
  Body extends z.ZodType = NoBody,
  Query extends z.ZodObject = z.ZodObject,
>(
  declared: DeclaredEndpoint<Name, Method, Path, Said, Body, Query>,
): DeclaredEndpoint<Name, Method, Path, Said, Body, Query> {
  return declared;
}

/** Declares an endpoint that needs no key. */
export function openEndpoint<const Name extends string, const Path extends string, Said extends z.ZodType>(
  declared: DeclaredOpenEndpoint<Name, Path, Said>,
): DeclaredOpenEndpoint<Name, Path, Said> {
  return declared;
}

/** An answer that is made for this request and kept nowhere. */
export function fresh<Body extends object>(body: Body): Answer<Body> {
  return { body, text: JSON.stringify(body), replayed: false };
}

/** The use of a request's body by an endpoint: `ignored` is read for the fingerprint only. */
export function bodyUse({ method, body }: KeyedEndpoint): "json" | "ignored" | "unread" {
  if (body !== undefined) return "json";
  return method === "POST" ? "ignored" : "unread";
}

/** The errors of an endpoint without duplicates, in the order of the table. */
export function errorsOf(declared: Endpoint): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(["RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR"]);
  if (declared.scope !== "none") for (const code of keyedErrors(declared)) codes.add(code);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

function keyedErrors(declared: KeyedEndpoint): readonly ErrorCode[] {
  const codes: ErrorCode[] = ["INVALID_API_KEY", "STORAGE_UNAVAILABLE", ...declared.errors];
  if (declared.scope !== "any") codes.push("INSUFFICIENT_SCOPE");
  if (declared.query !== undefined) codes.push("VALIDATION_ERROR");
  if (declared.method !== "GET") codes.push("OUTCOME_UNKNOWN");
  if (declared.method === "POST") codes.push("IDEMPOTENCY_KEY_REUSED");
  if (bodyUse(declared) !== "unread") {
    codes.push("VALIDATION_ERROR", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  }
  // An id with a slash is another path.
  if (declared.path.includes("{")) codes.push("NOT_FOUND");
  return codes;
}
