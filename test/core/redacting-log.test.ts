/** The logger that every line passes through: no secret gets past it, and what is left still helps. */
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { LedgerUnavailable } from "../../src/ledger/ledger.ts";
import { checkOptions, runtimeOptions } from "../../src/core/options.ts";
import { redactingLogger, redactionOf } from "../../src/core/redacting-log.ts";
import { silentLogger, type Logger } from "../../src/core/runtime.ts";
import { everythingIn, recorder, type Line } from "./recorder.ts";
import { turns } from "../kit/engine-world.ts";
import { byDepth } from "../kit/thorough.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";

const redactText = redactionOf(silentLogger);

function told(fields: object, message = "it happened", secrets: readonly Uint8Array[] = []): Line {
  const { logger, lines } = recorder();
  redactingLogger(logger, secrets).error(fields, message);
  const [line] = lines;
  if (line === undefined) throw new Error("nothing was told");
  return line;
}

const MASTER = Uint8Array.from({ length: 32 }, (_, index) => (index * 37 + 11) % 256);

const alphabet = (characters: string, minLength: number, maxLength = minLength): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters.split("")), minLength, maxLength });
const HEX = "0123456789abcdef";
const WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A text that holds a secret, and the part of it that nobody may read. */
interface Planted {
  readonly text: string;
  readonly canary: string;
}

const key = fc.tuple(
  fc.constantFrom("ps_live", "psk_live", "psk_test"),
  alphabet(HEX, 32),
  alphabet(HEX, 64),
  alphabet(HEX, 8),
);
const word = alphabet(WORD, 20, 60);
const host = alphabet("abcdefghijklmnopqrstuvwxyz", 5).map((name) => `${name}.example`);
const planted: fc.Arbitrary<Planted> = fc.oneof(
  key.map(([prefix, id, secret, check]) => ({
    text: `${prefix}_${id}_${secret}_${check}`,
    canary: secret,
  })),
  // Cut short, as an error cuts what it quotes.
  key.map(([prefix, id, secret]) => ({
    text: `${prefix}_${id}_${secret.slice(0, 40)}`,
    canary: secret.slice(0, 40),
  })),
  alphabet(`${WORD}+/`, 32).map((canary) => ({ text: `whsec_${canary}`, canary })),
  fc
    .tuple(fc.constantFrom("https", "wss", "http", "postgres", "HTTPS"), host, word)
    .chain(([scheme, name, canary]) =>
      fc.constantFrom(
        { text: `${scheme}://${name}/v2/${canary}`, canary },
        { text: `${scheme}://${name}/?api-key=${canary}`, canary },
        { text: `${scheme}://${name}:8899/a/b?x=1#${canary}`, canary },
        { text: `${scheme}://user:${canary}@${name}/db`, canary },
        { text: `${scheme}://user:pa/${canary}@${name}/db`, canary },
      ),
    ),
  fc
    .tuple(
      fc.constantFrom(
        "Bearer ",
        "bearer  ",
        "Basic ",
        "api_key=",
        "apiKey: ",
        'secret":"',
        'x-api-key\\":\\"',
      ),
      word,
    )
    .map(([before, canary]) => ({ text: `${before}${canary}`, canary })),
  fc
    .tuple(fc.constantFrom("password", "Authorization", "access_token", "clientSecret"), word, word)
    .chain(([name, one, canary]) =>
      fc.constantFrom(
        { text: `{"${name}":"${one} ${canary}"}`, canary },
        { text: `${name}='${one}, ${canary}'`, canary },
        { text: `${name}=${canary}`, canary },
      ),
    ),
  word.map((canary) => ({ text: `Cookie: theme=dark; session=${canary}`, canary })),
  fc.array(alphabet(`${WORD}+/`, 64), { minLength: 2, maxLength: 8 }).map((lines) => ({
    text: `-----BEGIN EC PRIVATE KEY-----\n${lines.join("\n")}\n-----END EC PRIVATE KEY-----`,
    canary: lines[1] ?? "",
  })),
  fc.uint8Array({ minLength: 32, maxLength: 64 }).map((bytes) => {
    const canary = [...bytes.subarray(0, 8)].join(",");
    return { text: `[${[...bytes].join(",")}]`, canary };
  }),
  fc.uint8Array({ minLength: 40, maxLength: 50 }).map((bytes) => ({
    text: inspect(Buffer.from(bytes)),
    canary: Buffer.from(bytes.subarray(0, 8))
      .toString("hex")
      .replaceAll(/(..)(?=.)/g, "$1 "),
  })),
  fc.uint8Array({ minLength: 165, maxLength: 1_232 }).map((bytes) => {
    const text = Buffer.from(bytes).toString("base64");
    return { text, canary: text.slice(50, 100) };
  }),
  fc
    .constantFrom<BufferEncoding>("hex", "base64", "base64url")
    .map((encoding) => Buffer.from(MASTER).toString(encoding).replace(/=+$/, ""))
    .map((text) => ({ text, canary: text.slice(10, 40) })),
);

const noise = fc.oneof(
  fc.constantFrom("", " ", "failed: ", "(", '"', "{ url: '", "\n    at ", "x", "=", "日本", "?", "&a=b "),
  fc.string({ maxLength: 12 }),
);

/** Ways in which a text gets into a log line. */
const HIDING: readonly ((text: string) => object)[] = [
  (text) => ({ reason: text }),
  (text) => ({ err: new Error(text) }),
  (text) => ({ err: new LedgerUnavailable(text) }),
  (text) => ({ err: new Error("outer", { cause: new TypeError("inner", { cause: new Error(text) }) }) }),
  (text) => ({ err: new Error("outer", { cause: text }) }),
  (text) => ({ err: new Error("outer", { cause: { config: { url: text } } }) }),
  (text) => ({ err: new AggregateError([new Error("one"), new Error(text)], "all failed") }),
  (text) => ({ err: Object.assign(new Error("refused"), { config: { headers: { "x-note": text } } }) }),
  (text) => ({ err: Object.assign(new Error("refused"), { [text]: 1 }) }),
  (text) => ({ err: Object.assign(new Error("refused"), { name: text }) }),
  (text) => ({ list: [[text], new Map([[text, text]]), new Set([text])] }),
  (text) => ({ deep: { a: { b: { c: { d: { e: { f: { g: text } } } } } } } }),
  (text) => ({ made: { toJSON: () => text, toString: () => text } }),
  (text) => ({
    get lazy() {
      return text;
    },
  }),
  (text) => {
    const circle: Record<string, unknown> = { text };
    circle["self"] = circle;
    return circle;
  },
];

describe("H13: no secret reaches the host's logger", () => {
  test("whatever its kind, wherever in a line it hides and whatever stands around it", () => {
    fc.assert(
      fc.property(
        planted,
        fc.tuple(noise, noise),
        fc.constantFrom(...HIDING),
        ({ text, canary }, [before, after], hide) => {
          // One letter before a scheme, such as in "xhttps:", only makes it another scheme.
          const line = told(hide(`${before}${text}${after}`), `${before}${text}${after}`, [MASTER]);
          expect(everythingIn(line)).not.toContain(canary);
        },
      ),
      { numRuns: byDepth({ quick: 500, ci: 3_000, long: 3_000 }) },
    );
  });

  test("a field with a secret's name is hidden whatever its value looks like", () => {
    const names = [
      "apiKey",
      "x-api-key",
      "Authorization",
      "cookie",
      "secretKey",
      "password",
      "signedTransaction",
    ];
    for (const name of names) {
      const nested = { request: { headers: { [name]: "plain words", also: { [name]: ["plain words"] } } } };
      expect(everythingIn(told(nested)), name).not.toContain("plain");
      expect(everythingIn(told({ err: Object.assign(new Error("no"), nested) })), name).not.toContain(
        "plain",
      );
    }
  });

  test("bytes are told by their number", () => {
    const { fields } = told({ payload: new Uint8Array(64).fill(200), more: { buffer: Buffer.from("hush") } });
    expect(fields).toEqual({ payload: "[64 bytes]", more: { buffer: "[4 bytes]" } });
  });

  test("every factory wraps the logger it is given", () => {
    const { logger, lines } = recorder();
    const { logger: checked } = checkOptions("test", z.object(runtimeOptions), { logger });
    checked.warn({ err: new Error("https://node.example/secretpath") }, "no answer");
    expect(lines).toHaveLength(1);
    expect(everythingIn(lines)).not.toContain("secretpath");
  });
});

describe("what is left still helps", () => {
  test("ids, signatures, addresses, slots and the host's name stay as they are", () => {
    const fields = {
      requestId: "req_0123456789abcdef0123456789abcdef",
      task: "tx_0123456789abcdef0123456789abcdef:2:0",
      signature: "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
      address: "So11111111111111111111111111111111111111112",
      slot: 312_000_111,
      ok: false,
      nothing: null,
      absent: undefined,
      kind: "landing",
    };
    expect(told(fields, "a poll found nothing out").fields).toEqual(fields);
    expect(redactText("GET https://node.example:8899/v2/k3y failed")).toBe(
      "GET https://node.example:8899/*** failed",
    );
    expect(redactText("asked https://node.example")).toBe("asked https://node.example");
    expect(redactText("SQLITE_BUSY: database is locked")).toBe("SQLITE_BUSY: database is locked");
  });

  test("an error keeps its class, message, stack, code and chain of causes, as pino's serializer reads them", () => {
    const root = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED", errno: -111 });
    const thrown = new StorageUnusable("disk_full", "the disk is full", { cause: root });
    const err = told({ err: thrown }).fields["err"] as StorageUnusable;
    expect(err).toBeInstanceOf(Error);
    expect(err.constructor.name).toBe("StorageUnusable");
    expect(err.message).toBe("the disk is full");
    expect(err.stack).toBe(thrown.stack);
    expect(err.stack).toContain("redacting-log.test.ts");
    const cause = err.cause as typeof root;
    expect(cause).toBeInstanceOf(Error);
    expect([cause.constructor.name, cause.message, cause.code, cause.errno]).toEqual([
      "TypeError",
      "fetch failed",
      "ECONNREFUSED",
      -111,
    ]);
    expect(cause.stack).toBe(root.stack);
    const aggregate = told({ err: new AggregateError([root], "all failed") }).fields["err"] as AggregateError;
    expect((aggregate.errors as Error[]).map(({ message }) => message)).toEqual(["fetch failed"]);
  });

  test("the level and the sentence arrive, and a silent logger stays silent", () => {
    const { logger, lines } = recorder();
    const log = redactingLogger(logger);
    for (const level of ["debug", "info", "warn", "error"] as const) {
      log[level]({ level }, `said at ${level}`);
    }
    expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      "debug: said at debug",
      "info: said at info",
      "warn: said at warn",
      "error: said at error",
    ]);
    expect(redactingLogger(silentLogger)).toBe(silentLogger);
    expect(redactingLogger(log)).toBe(log);
  });

  test("what a logger's redaction knows can be asked for, also of a silent one", () => {
    const spelled = Buffer.from(MASTER).toString("base64url");
    expect(redactionOf(redactingLogger(silentLogger, [MASTER]))(`secret ${spelled}!`)).toBe("secret ***!");
    expect(redactionOf(redactingLogger(recorder().logger, [MASTER]))(spelled)).toBe("***");
    expect(redactionOf(silentLogger)(spelled)).toBe(spelled);
  });

  test("amounts that JSON cannot write become their digits", () => {
    expect(told({ amount: 2n ** 64n }).fields).toEqual({ amount: "18446744073709551616" });
  });
});

describe("whatever is logged, logging never throws and stays small", () => {
  test("values made to hurt: circles, getters that throw, proxies, endless texts", () => {
    const proxy = new Proxy({}, { ownKeys: () => raise(), get: () => raise() });
    const getter = {
      get broken(): never {
        return raise();
      },
    };
    const error = new Error("x");
    error.cause = error;
    Object.defineProperty(error, "stack", { get: raise });
    const { fields } = told({ proxy, getter, error, symbol: Symbol("s"), call: raise });
    expect(fields).toMatchObject({
      proxy: "[unreadable]",
      getter: { broken: "[unreadable]" },
      error: "[unreadable]",
      symbol: "[symbol]",
      call: "[function]",
    });
    expect(JSON.stringify(told({ text: "word ".repeat(10_000) })).length).toBeLessThan(20_000);
    expect(told({ text: "a ".repeat(500_000) }).fields["text"]).toBe("*** (1000000 characters)");
    expect(JSON.stringify(told({ wide: Array.from({ length: 5_000 }, () => "wide") })).length).toBeLessThan(
      2_000,
    );
  });

  test("anything at all can be logged", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withMap: true, withSparseArray: true }), (value) => {
        const line = told({ value, err: value });
        expect(() => JSON.stringify(line)).not.toThrow();
      }),
    );
  });

  test("a logger of the host that throws disturbs nobody", () => {
    const broken: Logger = { debug: raise, info: raise, warn: raise, error: raise };
    expect(() => redactingLogger(broken).error({}, "anything")).not.toThrow();
  });

  test("D82: a logger of the host whose promise rejects ends no process", async () => {
    const rejected: unknown[] = [];
    const heard = (reason: unknown): void => void rejected.push(reason);
    process.on("unhandledRejection", heard);
    const broken = (): never => Promise.reject(new Error("the disk is full")) as never;
    redactingLogger({ debug: broken, info: broken, warn: broken, error: broken }).error({}, "anything");
    await turns(2);
    process.off("unhandledRejection", heard);
    expect(rejected).toEqual([]);
  });

  test.each([
    ["digits and commas", "1 , "],
    ["letters", "a"],
    ["almost URLs", "https:/"],
    ["almost keys", "token"],
    ["almost base64", `${"a".repeat(199)} `],
    ["quotes", 'secret="\\'],
    ["spaces after a name", " "],
    ["beginnings of keys", "-----BEGIN RSA PRIVATE KEY-----"],
    ["bytes", "00 "],
  ])("the longest text that is searched, of %s, is searched in bounded time", (_name, unit) => {
    const text = `secret<Buffer ${unit.repeat(65_000 / unit.length)}`;
    expect(text.length).toBeGreaterThan(64_000);
    const before = process.cpuUsage();
    redactText(text);
    const { user, system } = process.cpuUsage(before);
    // It takes a tenth of a second or less; one repetition inside another would take many minutes.
    expect((user + system) / 1_000).toBeLessThan(2_000);
  });
});

function raise(): never {
  throw new Error("made to hurt");
}
