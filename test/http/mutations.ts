/** Valid requests of every endpoint, and how they are bent: each change is a value that a random test draws. */
import fc from "fast-check";
import { bodyUse, type Endpoint } from "../../src/http/contract/endpoint.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { anyCharacter } from "../kit/any-character.ts";

/** A request as it goes out: what stands in the first line, in the headers and in the body. */
export interface RawRequest {
  readonly method: string;
  /** With the query, as it is written. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null for none. */
  readonly body: string | null;
}

/** A request in the making: its body is still a value where it is one. */
export interface Draft extends RawRequest {
  readonly json: unknown;
}

/** One change. */
export type Mutation = (draft: Draft) => Draft;

/** What a request names, by the examples of the document and the variable parts of paths that stand for it. */
export type Belongings = ReadonlyMap<string, string>;

/** Endpoints and which of their examples, for the drawing of one. */
export const CASES: readonly { readonly endpoint: Endpoint; readonly example: string | null }[] =
  ENDPOINTS.flatMap((endpoint) => {
    const examples =
      endpoint.scope === "none" || endpoint.body === undefined ? [null] : Object.keys(endpoint.body.examples);
    return examples.map((example) => ({ endpoint, example }));
  });

/** The queries of endpoints that do not answer without one. */
const QUERIES: Readonly<Record<string, string>> = {
  exportTransactions: "?from=2027-01-01T00:00:00Z&to=2027-01-31T00:00:00Z",
};

/** The request that the document shows, with real ids in the place of its examples. */
export function validRequest(
  { endpoint, example }: (typeof CASES)[number],
  belongings: (isPrivate: boolean) => Belongings,
  authorization: string,
): Draft {
  const { method, path, operationId } = endpoint;
  const query = QUERIES[operationId] ?? "";
  const shown = endpoint.scope === "none" || example === null ? undefined : endpoint.body?.examples[example];
  const text = JSON.stringify(shown ?? null);
  const owned = belongings(text.includes('"mode":"private"'));
  const filled = [...owned].reduce((all, [from, to]) => all.replaceAll(from, to), text);
  const isJson = endpoint.scope !== "none" && bodyUse(endpoint) === "json";
  return {
    method,
    target: `${path.replaceAll(/\{\w+\}/g, (name) => owned.get(name) ?? "some_id")}${query}`,
    headers: [
      ["authorization", authorization],
      ...(isJson ? ([["content-type", "application/json"]] as const) : []),
    ],
    json: isJson ? JSON.parse(filled) : undefined,
    body: isJson ? filled : null,
  };
}

const LONG = 3_000;
/** Values that programs stumble over. */
const SNARES: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    -0,
    "",
    " ",
    "0",
    "-0",
    "-1",
    "1e5",
    "0x10",
    "NaN",
    "Infinity",
  ],
  ...["1.", ".1", "00.1", "0.0000000001", "18446744073709551615", "18446744073709551616", "9".repeat(400)],
  ...[
    "١٢",
    "１",
    "1\u0000",
    "\u0000",
    "\ud800",
    "\ufeff1",
    "💸".repeat(200),
    "é",
    "a".repeat(LONG),
    "\r\n",
    "%00",
  ],
  ...["__proto__", "constructor", "toString", "../../etc", "' or 1=1 --", "${7*7}", "<script>", "{{7*7}}"],
  ...["wallet", "private", "send", "swap", "payroll", "SOL", "USDC", "USDT", "25", "1", "0.001", "0.0009"],
  ...[
    "https://127.0.0.1:1/",
    "http://x.example",
    "https://u:p@127.0.0.1/",
    "https://[::1]/",
    "ftp://x",
    "//x",
  ],
  ...["2020-01-01T00:00:00Z", "2020-01-01", "+275760-09-13T00:00:00.000Z", "2020-02-30T00:00:00Z", "tx_0"],
  ...["11111111111111111111111111111111", "So11111111111111111111111111111111111111112"],
  ...[
    [],
    {},
    [[]],
    [null],
    [{}],
    { address: "x", amount: "1" },
    Array.from({ length: 300 }, () => ({})),
    [1, 2, 3],
  ],
  JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
  JSON.parse('{"constructor":{"prototype":{"polluted":true}}}') as unknown,
];

const snare = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SNARES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 64 }) },
  { weight: 1, arbitrary: fc.nat({ max: 2_000 }).map(nested) },
);

function nested(depth: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

type Path = readonly (string | number)[];

const MAX_DEPTH = 6;

/** Every place in a JSON value, the whole first; what lies very deep is one place. */
function placesIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null || path.length === MAX_DEPTH) return [path];
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const below = entries.flatMap(([name, inner]) =>
    placesIn(inner, [...path, Array.isArray(value) ? Number(name) : name]),
  );
  return [path, ...below];
}

/** The value with another one at a place; undefined takes it out. */
function replaced(value: unknown, [name, ...rest]: Path, other: unknown): unknown {
  if (name === undefined) return other;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    return list.flatMap((inner, index) => {
      if (index !== name) return [inner];
      return rest.length === 0 && other === undefined ? [] : [replaced(inner, rest, other)];
    });
  }
  const all = new Map(Object.entries(value as object));
  if (rest.length === 0 && other === undefined) all.delete(String(name));
  else all.set(String(name), replaced(all.get(String(name)), rest, other));
  return Object.fromEntries(all);
}

const withJson = (draft: Draft, json: unknown): Draft => ({
  ...draft,
  json,
  body: JSON.stringify(json) ?? "",
});

const fieldsOf = (json: unknown): object => (typeof json === "object" && json !== null ? json : {});
const anywhere = fc.nat({ max: 1_000 });
const pick = <Value>(all: readonly Value[], at: number): Value | undefined => all[at % all.length];

const otherValue = fc.tuple(anywhere, snare).map(
  ([at, value]): Mutation =>
    (draft) =>
      withJson(draft, replaced(draft.json, pick(placesIn(draft.json), at) ?? [], value)),
);
const dropped = anywhere.map(
  (at): Mutation =>
    (draft) =>
      withJson(draft, replaced(draft.json, pick(placesIn(draft.json), at) ?? [], undefined)),
);
const added = fc
  .tuple(fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom("__proto__", "toString", "id")), snare)
  .map(
    ([name, value]): Mutation =>
      (draft) =>
        withJson(draft, {
          ...fieldsOf(draft.json),
          ...(JSON.parse(JSON.stringify({ [name]: value })) as object),
        }),
  );
const twice = fc.tuple(anywhere, snare).map(([at, value]): Mutation => (draft) => {
  const name = pick(Object.keys(fieldsOf(draft.json)), at) ?? "x";
  const field = `${JSON.stringify(name)}:${JSON.stringify(value) ?? "1"}`;
  return { ...draft, body: (draft.body ?? "{}").replace("{", `{${field},`) };
});
const spoiltText = fc
  .tuple(anywhere, fc.nat({ max: 5 }), fc.string({ unit: anyCharacter, maxLength: 5 }))
  .map(([at, length, text]): Mutation => (draft) => {
    const body = draft.body ?? "";
    const from = at % (body.length + 1);
    return { ...draft, body: body.slice(0, from) + text + body.slice(from + length) };
  });
const otherText = fc
  .constantFrom("", "null", "[]", "{", "1", '"', "\u0000", "{}", '{"a":1}{', "\ufeff{}")
  .map((body): Mutation => (draft) => ({ ...draft, body }));
const huge = fc
  .constantFrom(60_000, 65_536, 65_537, 200_000)
  .map((length): Mutation => (draft) => ({ ...draft, body: `{"x":"${"y".repeat(length - 8)}"}` }));

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  [
    "content-type",
    [
      "text/plain",
      "application/json; charset=utf-16",
      "application/json;charset=utf-8",
      "",
      "x",
      "multipart/form-data; boundary=x",
    ],
  ],
  ["content-encoding", ["gzip", "identity", "br", "x"]],
  ["idempotency-key", ["k1", "k2", "k3", "", "a b", "k".repeat(255), "k".repeat(256)]],
  [
    "authorization",
    [
      "",
      "Bearer",
      "Bearer x",
      "Basic eDp5",
      `Bearer ps_test_${"0".repeat(32)}_${"0".repeat(64)}_00000000`,
      "x".repeat(4_000),
    ],
  ],
  ["accept", ["text/html", "*/*", "x"]],
  ["accept-encoding", ["gzip", "*;q=0"]],
  ["x-request-id", ["req_mine", "x".repeat(2_000)]],
  ["x-forwarded-for", ["1.2.3.4", "x, y", "::1"]],
  ["x-http-method-override", ["DELETE"]],
  ["if-none-match", ["*", '"x"']],
  ["range", ["bytes=0-1"]],
  ["origin", ["https://evil.example", "null"]],
  ["cookie", ["a=b", "x".repeat(3_000)]],
  ["prefer", ["respond-async"]],
];
const otherHeader = fc
  .constantFrom(...HEADERS)
  .chain(([name, values]) => fc.tuple(fc.constant(name), fc.constantFrom(...values), fc.boolean()))
  .map(([name, value, isBeside]): Mutation => (draft) => {
    const others = draft.headers.filter(([each]) => isBeside || each !== name);
    return { ...draft, headers: [...others, [name, value]] };
  });

const SEGMENTS = [
  "",
  ".",
  "..",
  "%00",
  "%",
  "%ff",
  "%2F",
  "%2e%2e",
  "a b",
  "💸",
  "tx_0",
  "x".repeat(LONG),
  "v2",
  "*",
  "{webhookId}",
  "a;b=c",
  "%F0%9F%92%B8",
  "__proto__",
];
const otherSegment = fc
  .tuple(anywhere, fc.oneof(fc.constantFrom(...SEGMENTS), fc.string({ maxLength: 12 })))
  .map(([at, text]): Mutation => (draft) => {
    const [path = "", ...query] = draft.target.split("?");
    const parts = path.split("/");
    parts[1 + (at % parts.length)] = text.replaceAll(/[?#\r\n]/g, "");
    return { ...draft, target: [parts.join("/"), ...query].join("?") };
  });

const NAMES = [
  "limit",
  "startingAfter",
  "status",
  "type",
  "mode",
  "recipient",
  "reference",
  "createdAfter",
  "createdBefore",
  "order",
  "wait",
  "x",
  "__proto__",
  "",
];
const otherQuery = fc
  .tuple(
    fc.constantFrom(...NAMES),
    fc.oneof(fc.constantFrom(...SNARES.filter((each) => typeof each !== "object")), fc.nat({ max: 200 })),
    fc.boolean(),
  )
  .map(([name, value, isEncoded]): Mutation => (draft) => {
    const text = String(value).replaceAll(/[#\r\n\ud800]/g, "");
    const sign = draft.target.includes("?") ? "&" : "?";
    return {
      ...draft,
      target: `${draft.target}${sign}${name}=${isEncoded ? encodeURIComponent(text) : text}`,
    };
  });

const otherMethod = fc
  .constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "QUERY")
  .map((method): Mutation => (draft) => ({ ...draft, method }));

/** One change, those of the body most of all. */
export const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 8, arbitrary: otherValue },
  { weight: 2, arbitrary: dropped },
  { weight: 2, arbitrary: added },
  { weight: 1, arbitrary: twice },
  { weight: 1, arbitrary: spoiltText },
  { weight: 1, arbitrary: otherText },
  { weight: 1, arbitrary: huge },
  { weight: 3, arbitrary: otherHeader },
  { weight: 3, arbitrary: otherSegment },
  { weight: 4, arbitrary: otherQuery },
  { weight: 1, arbitrary: otherMethod },
);
