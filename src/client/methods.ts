/** The types of the client's methods, taken from the declarations of the endpoints. */
import type { z } from "zod";
import type { OpenEndpoint } from "../http/contract/endpoint.ts";
import type { ServedEndpoint } from "../http/endpoints/every-endpoint.ts";
import type { Immutable } from "../core/immutable.ts";
import type { PageBody, Pages } from "./pages.ts";

/** The name of a method: the endpoint's operationId in the OpenAPI document. */
export type OperationId = ServedEndpoint["operationId"];

/** The declaration of an endpoint. */
type EndpointOf<Name extends OperationId> = Extract<ServedEndpoint, { readonly operationId: Name }>;

/** The endpoints that need a key. */
type Keyed = Exclude<ServedEndpoint, OpenEndpoint>;

/** The answer of an endpoint. */
export type AnswerOf<Name extends OperationId> = Immutable<z.output<EndpointOf<Name>["answer"]["schema"]>>;

/** Options of every method. */
export interface CallOptions {
  /** Ends the call. A request that was already sent may still be carried out: the outcome is unknown. */
  readonly signal?: AbortSignal;
}

/** Options of a method that creates something. */
export interface PostOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. The same key and the same fields again get the same answer, and nothing is done
   * twice; the same key with other fields is refused with `IDEMPOTENCY_KEY_REUSED`. Give a key of your own, such as the
   * order number: then no restart of your program pays twice. Default: a new key for each call; retries of the client
   * repeat the key.
   */
  readonly idempotencyKey?: string;
}

/** An argument for each variable part of the path. */
type Ids<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [id: string, ...Ids<Rest>]
  : [];

type BodyOf<Endpoint extends Keyed> = NonNullable<Endpoint["body"]>["schema"];
type QueryOf<Endpoint extends Keyed> = NonNullable<Endpoint["query"]>;

/** The body or the query of an endpoint, if any. */
type Fields<Endpoint extends Keyed> =
  undefined extends z.input<BodyOf<Endpoint>>
    ? string extends keyof QueryOf<Endpoint>["shape"]
      ? []
      : {} extends z.input<QueryOf<Endpoint>>
        ? [query?: Immutable<z.input<QueryOf<Endpoint>>>]
        : [query: Immutable<z.input<QueryOf<Endpoint>>>]
    : [body: Immutable<z.input<BodyOf<Endpoint>>>];

type OptionsOf<Endpoint extends Keyed> = Endpoint["method"] extends "POST" ? PostOptions : CallOptions;

/** A list is read page by page, a text line by line, everything else at once. */
type Answered<Answer> =
  Answer extends PageBody<infer Element>
    ? Pages<Element>
    : Answer extends string
      ? AsyncGenerator<string, void, undefined>
      : Promise<Answer>;

/** A method of the client. */
type MethodOf<Endpoint extends Keyed> = (
  ...args: [...Ids<Endpoint["path"]>, ...Fields<Endpoint>, options?: OptionsOf<Endpoint>]
) => Answered<AnswerOf<Endpoint["operationId"]>>;

/** The client's methods: for each endpoint a method named after the operationId. */
export type EndpointClient = {
  readonly [Name in Keyed["operationId"]]: MethodOf<Extract<Keyed, { readonly operationId: Name }>>;
} & {
  readonly [Name in Exclude<OperationId, Keyed["operationId"]>]: (
    options?: CallOptions,
  ) => Promise<AnswerOf<Name>>;
};

/** Arguments of a method after the ids of its path: the body or the query. */
type SentBy<Endpoint> = Endpoint extends Keyed
  ? undefined extends z.input<BodyOf<Endpoint>>
    ? Fields<Endpoint> extends []
      ? "nothing"
      : "query"
    : "body"
  : "nothing";

/** The client's form of an answer: a list is paged by the id of its last element. */
type ReadAs<Endpoint, Answer> = Answer extends string
  ? { readonly reads: Endpoint extends Keyed ? "lines" : "text" }
  : Answer extends PageBody<infer Element>
    ? { readonly reads: "pages"; readonly id: keyof Element & `${string}Id` }
    : { readonly reads: "object" };

/** The client's knowledge about an endpoint at run time; the compiler compares it with the declaration. */
export type OperationOf<Name extends OperationId> = {
  readonly method: EndpointOf<Name>["method"];
  readonly path: EndpointOf<Name>["path"];
  readonly sends: SentBy<EndpointOf<Name>>;
} & ReadAs<EndpointOf<Name>, AnswerOf<Name>>;
