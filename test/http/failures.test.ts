/** What a caller sees when something behind the handler fails: never more than the contract's sentence. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { ERRORS } from "../../src/errors/error-table.ts";
import { LedgerUnavailable } from "../../src/ledger/ledger.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import type { AnyTable } from "../../storage/table.ts";
import { sampled } from "../kit/thorough.ts";
import { httpFixture, told, type HttpFixture, type Told } from "./http-fixture.ts";
import { WAYS } from "./ways.ts";

const SECRET_URL = "https://node.example/?api-key=k3y";

test("every code has the status of the contract", () => {
  const codesOf = (status: number): string[] =>
    Object.entries(ERRORS).flatMap(([code, kind]) => (kind.status === status ? [code] : []));
  const invalid = ["RECIPIENT", "SIGNATURE", "URL", "EVENTS", "ADDRESS", "ASSET"].map(
    (it) => `INVALID_${it}`,
  );
  expect(codesOf(400)).toEqual(["VALIDATION_ERROR", ...invalid]);
  expect(codesOf(401)).toEqual(["INVALID_API_KEY"]);
  expect(codesOf(403)).toEqual(["UNAUTHORIZED", "INSUFFICIENT_SCOPE", "ACCOUNT_SUSPENDED"]);
  expect(codesOf(404).every((code) => code.endsWith("NOT_FOUND"))).toBe(true);
  expect(codesOf(405)).toEqual(["METHOD_NOT_ALLOWED"]);
  expect(codesOf(409)).toEqual([
    "CANNOT_CANCEL",
    "ALREADY_PROCESSED",
    "DUPLICATE_TRANSACTION",
    "WEBHOOK_LIMIT_EXCEEDED",
  ]);
  expect(codesOf(413)).toEqual(["PAYLOAD_TOO_LARGE"]);
  expect(codesOf(415)).toEqual(["UNSUPPORTED_MEDIA_TYPE"]);
  expect(codesOf(422)).toEqual([
    "INVALID_QUOTE",
    "INSUFFICIENT_BALANCE",
    "TRANSACTION_WOULD_FAIL",
    "URL_UNREACHABLE",
    "AMOUNT_TOO_SMALL",
    "AMOUNT_TOO_LARGE",
    "INSUFFICIENT_LIQUIDITY",
    "IDEMPOTENCY_KEY_REUSED",
    "VOLUME_LIMIT_EXCEEDED",
  ]);
  expect([429, 500, 502, 503].map(codesOf)).toEqual([
    ["RATE_LIMIT_EXCEEDED"],
    ["INTERNAL_ERROR"],
    ["UPSTREAM_ERROR"],
    ["SERVICE_PAUSED", "ROUTING_UNAVAILABLE", "STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN"],
  ]);
});

describe.each(sampled(WAYS, "ways of failures"))("$name", (way) => {
  let http: HttpFixture;
  const logged: { fields: Record<string, unknown>; message: string }[] = [];
  const logger = {
    debug() {},
    info() {},
    warn: (fields: object, message: string) => logged.push({ fields: { ...fields }, message }),
    error: (fields: object, message: string) => logged.push({ fields: { ...fields }, message }),
  };
  beforeAll(async () => {
    http = await httpFixture(way);
  });
  afterAll(() => http.close());

  /** Sends through a handler whose service has something broken behind it. */
  const ask = async (broken: Parameters<HttpFixture["another"]>[0], path: string): Promise<Told> => {
    const { key } = await http.client();
    const handler = createHttpHandler({ service: http.another(broken), clock: http.clock, logger });
    const opened = await way.open(handler);
    try {
      return await told(await opened.ask(path, { headers: { authorization: `Bearer ${key}` } }));
    } finally {
      await opened.close();
    }
  };

  test("H20: a ledger that cannot be asked is 502 with a body, never a stack, and is logged with the id", async () => {
    const ledger = {
      ...http.ledger,
      balances: () => Promise.reject(new LedgerUnavailable(`no node answered (${SECRET_URL})`)),
    };
    const { address } = http.wallet("alice");
    const failed = await ask({ ledger }, `/v1/balances/${address}`);
    expectSilent(failed);
    expect(failed).toMatchObject({ status: 502, code: "UPSTREAM_ERROR", details: { retryAfter: 2 } });
    expect(failed.headers.get("retry-after")).toBe("2");
    const { requestId } = failed.details;
    expect(logged.find(({ fields }) => fields["requestId"] === requestId)?.fields).toMatchObject({
      method: "GET",
      path: `/v1/balances/${address}`,
    });
  });

  test("H20: nodes that all refuse are 502, through the production ledger", async () => {
    const fetch = (): Promise<Response> => Promise.reject(new TypeError(`fetch failed: ${SECRET_URL}`));
    const ledger = http.ledgerOf([{ url: SECRET_URL, fetch }]);
    const asked = ask({ ledger }, `/v1/balances/${http.wallet("alice").address}`);
    const failed = await whileTimePasses(asked);
    expectSilent(failed);
    expect(failed).toMatchObject({ status: 502, code: "UPSTREAM_ERROR" });
    await ledger.close();
  });

  test("D37: a storage that cannot be used is STORAGE_UNAVAILABLE with Retry-After, and the log says why", async () => {
    const thrown = new StorageUnusable("disk_full", "/var/lib/pay/payments.db: the disk is full");
    const failed = await ask({ storage: failingReadsOf("webhooks", thrown) }, "/v1/webhooks");
    expectSilent(failed);
    expect(failed).toMatchObject({ status: 503, code: "STORAGE_UNAVAILABLE", details: { retryAfter: 5 } });
    expect(failed.headers.get("retry-after")).toBe("5");
    expect(essence(logged.at(-1)?.fields["err"])).toEqual(essence(thrown));
  });

  test.each([
    ["a failing driver", new Error("SQLITE_ERROR: no such table: webhooks at /var/lib/pay/payments.db")],
    ["a thrown string", "SQLITE_ERROR /var/lib/pay/payments.db"],
    ["nothing at all", undefined],
  ])("%s is INTERNAL_ERROR with a constant sentence, and the log knows more", async (_name, thrown) => {
    const storage = failingReadsOf("webhooks", thrown);
    const failed = await ask({ storage }, "/v1/webhooks");
    expectSilent(failed);
    expect(failed).toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
    expect(failed.body).toEqual({
      error: {
        code: "INTERNAL_ERROR",
        message: "Something went wrong on our side.",
        details: { requestId: failed.headers.get("x-request-id"), docUrl: "/v1/docs#INTERNAL_ERROR" },
      },
    });
    const { requestId, err } = logged.at(-1)?.fields ?? {};
    expect(requestId).toBe(failed.details["requestId"]);
    expect(essence(err)).toEqual(essence(thrown));
  });

  test.each([
    ["returned undefined", () => undefined as never],
    ["returned a value of type object", () => ["203.0.113.7"] as never],
    [
      "threw",
      () => {
        throw new Error("no header");
      },
    ],
  ])(
    "a clientAddress that %s is INTERNAL_ERROR, and the log names the option",
    async (how, clientAddress) => {
      const { key } = await http.client();
      const handler = createHttpHandler({ service: http.service, clock: http.clock, logger, clientAddress });
      const opened = await way.open(handler);
      for (const path of ["/v1/tokens", "/v1/openapi.json"]) {
        const failed = await told(await opened.ask(path, { headers: { authorization: `Bearer ${key}` } }));
        expectSilent(failed);
        expect(failed).toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
        expect(String(logged.at(-1)?.fields["err"])).toContain(`the option clientAddress ${how}`);
      }
      await opened.close();
    },
  );

  test("a storage that fails while the key is looked up is 500, not 401", async () => {
    const storage = failingReadsOf("apiKeys", new Error("SQLITE_IOERR"));
    const failed = await ask({ storage }, "/v1/tokens");
    expectSilent(failed);
    expect(failed).toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
  });

  /** The storage, whose reads of one table fail. */
  function failingReadsOf(name: string, thrown: unknown): EngineStorage {
    const failing =
      <A extends unknown[], R>(read: (...asked: A) => R, tableOf: (...asked: A) => AnyTable) =>
      (...asked: A): R => {
        if (tableOf(...asked).name === name) throw thrown;
        return read(...asked);
      };
    const { storage } = http;
    return {
      ...storage,
      find: failing(storage.find, ({ table }) => table),
    } as EngineStorage;
  }

  /** Lets virtual time pass until the answer is there: a ledger tries again before it gives up. */
  async function whileTimePasses(asked: Promise<Told>): Promise<Told> {
    let done = false;
    const answer = asked.finally(() => (done = true));
    while (!done) {
      http.clock.advance(100);
      await new Promise(setImmediate);
    }
    return await answer;
  }
});

/** What matters of a logged error; it is a copy without secrets, not the error itself. */
function essence(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { name, message, stack, constructor, code } = thrown as Error & { code?: string };
  return { type: constructor.name, name, message, stack, code };
}

function expectSilent({ text }: Told): void {
  expect(text).not.toMatch(/SQLITE|node\.example|k3y|payments\.db|\/var\/|\.ts\b|\.js\b|\bat \w+ \(|stack/);
}
