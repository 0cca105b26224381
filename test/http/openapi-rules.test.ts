/** The OpenAPI document as a product: its names, its statuses, and its own examples. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { messageOf } from "../../src/errors/remedies.ts";
import { ERRORS, type ErrorKind } from "../../src/errors/error-table.ts";
import type { ErrorCode } from "../../src/errors/errors.ts";
import { errorsOf } from "../../src/http/contract/endpoint.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { openApiDocument } from "../../src/index.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly $ref?: string; readonly name?: string; readonly in?: string }[];
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, Answer>>;
}
interface Answer {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, object>>;
}
interface ErrorExample {
  readonly summary: string;
  readonly value: {
    readonly error: {
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    };
  };
}
interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Answer>>;
    readonly examples: Readonly<Record<string, ErrorExample>>;
  };
}

const document = openApiDocument() as unknown as Document;

function operationOf(method: string, path: string): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not described`);
  return operation;
}

function headersOf(answer: Answer | undefined): readonly string[] {
  const name = answer?.$ref?.split("/").at(-1);
  return Object.keys((name === undefined ? answer : document.components.responses[name])?.headers ?? {});
}

test("each operation has a name of its own, which is a name in any language", () => {
  const names = [
    ...Object.values(document.paths).flatMap((methods) => Object.values(methods)),
    ...Object.values(document.webhooks).map(({ post }) => post),
  ].map(({ operationId }) => operationId);
  expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(ENDPOINTS)("$method $path", (endpoint) => {
  const { method, path, scope } = endpoint;
  const operation = operationOf(method, path);

  test("names every status that can come, each with its headers", () => {
    const statuses = [endpoint.answer.status, ...errorsOf(endpoint).map((code) => ERRORS[code].status)];
    expect(Object.keys(operation.responses).map(Number)).toEqual(
      [...new Set(statuses)].toSorted((one, other) => one - other),
    );
    for (const [status, answer] of Object.entries(operation.responses)) {
      expect(headersOf(answer)).toEqual(
        expect.arrayContaining(["X-Request-Id", "RateLimit", "RateLimit-Policy"]),
      );
      expect(headersOf(answer).includes("Retry-After")).toBe(["429", "502", "503"].includes(status));
    }
    expect(headersOf(operation.responses["201"]).includes("Location")).toBe(
      path === "/v1/transactions" && method === "POST",
    );
  });

  test("says whether it takes a key, and an Idempotency-Key", () => {
    expect(operation.security).toEqual(scope === "none" ? [] : undefined);
    const refs = (operation.parameters ?? []).map(({ $ref }) => $ref);
    expect(refs.includes("#/components/parameters/Idempotency-Key")).toBe(method === "POST");
    expect(
      headersOf(operation.responses[String(endpoint.answer.status)]).includes("Idempotent-Replayed"),
    ).toBe(method === "POST");
  });

  test("its examples are taken by its own schemas", () => {
    if (endpoint.scope === "none") return;
    for (const body of [endpoint.body, endpoint.answer]) {
      if (body === undefined) continue;
      const strict = body.schema instanceof z.ZodObject ? body.schema.strict() : body.schema;
      for (const example of Object.values(body.examples)) expect(() => strict.parse(example)).not.toThrow();
      expect(Object.keys(body.examples).length).toBeGreaterThan(0);
    }
  });
});

test.each(Object.entries(document.components.examples))(
  "the example %s is an error of its code, and tells the remedy",
  (name, example) => {
    const { code, details } = example.value.error;
    const kind: ErrorKind = ERRORS[code];
    expect(example.value.error.message).toBe(messageOf(code, details));
    const { requestId, docUrl, ...own } = details;
    expect(requestId).toMatch(/^req_/);
    expect(docUrl).toBe(`/v1/docs#${code}`);
    expect(kind.details.strict().parse(own)).toEqual(own);
    const { reason } = own;
    expect(name).toBe(typeof reason === "string" ? `${code}.${reason}` : code);
    expect(example.summary.startsWith(`${name}: `)).toBe(true);
  },
);

test("the notices are described with their headers", () => {
  expect(Object.keys(document.webhooks)).toEqual([
    "transaction.pending",
    "transaction.confirmed",
    "transaction.completed",
    "transaction.failed",
    "transaction.deposit_received",
    "transaction.held",
    "transaction.refunded",
    "transaction.cancelled",
  ]);
  for (const { post } of Object.values(document.webhooks)) {
    expect(post.parameters?.map(({ name }) => name)).toEqual([
      "webhook-id",
      "webhook-timestamp",
      "webhook-signature",
      "X-Service-Signature",
    ]);
  }
});

test("the server is the one that is named", () => {
  expect(document.servers).toEqual([{ url: "/" }]);
  const elsewhere = openApiDocument({ server: "https://pay.example/payments" }) as unknown as Document;
  expect(elsewhere.servers).toEqual([{ url: "https://pay.example/payments" }]);
});
