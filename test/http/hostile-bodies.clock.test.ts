/** H21: bodies of up to 64 KiB that mean harm. None holds the event loop for long, and none is answered at length. */
import { createHash } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import { describe, expect, test } from "vitest";
import { sampled } from "../kit/thorough.ts";
import { httpFixture, type Told } from "./http-fixture.ts";
import { httpTest } from "./http-test.ts";
import { longestBlock } from "./longest-block.ts";
import { HOSTED_WAYS, WAYS } from "./ways.ts";

const MAX_BODY_BYTES = 65_536;
const MAX_BLOCK_MS = 20;
// A busy machine can only make a pause longer than the work in it, so the shortest of some is nearest to the truth.
const MAX_TRIES = 8;

/** Fills up to 64 KiB with one item over and over, between a beginning and an end. */
function filled(start: string, item: string, end: string): string {
  const room = MAX_BODY_BYTES - Buffer.byteLength(start + end);
  return start + item.repeat(Math.floor(room / Buffer.byteLength(item))) + end;
}

function nested(open: string, inner: string, close: string, depth: number): string {
  return `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
}

const quote = (fields: string): string => `{"inputAsset":"USDC","outputAsset":"USDC",${fields}}`;
const inQuote = (name: string, unit: string): string =>
  filled(`{"inputAsset":"USDC","outputAsset":"USDC","${name}":"`, unit, '"}');

/** An address that a private key signs for. */
const walletOf = (name: string): string =>
  Keypair.fromSeed(createHash("sha256").update(name).digest()).publicKey.toBase58();

/** Bodies that fit any endpoint badly. */
const SHAPES: Readonly<Record<string, string>> = {
  "deep arrays": nested("[", "", "]", 32_768),
  "deep objects": nested('{"a":', "1", "}", 10_000),
  "brackets that never close": "[".repeat(65_000),
  "32,000 numbers": filled("[1", ",1", "]"),
  "recipients that are numbers": filled('{"recipients":[1', ",1", "]}"),
  "recipients that are empty": filled('{"recipients":[{}', ",{}", "]}"),
  "recipients nested deeply": `{"recipients":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
  "7,000 unknown fields": `{${Array.from({ length: 7_000 }, (_, n) => `"${n}":1`).join(",")}}`,
  "unknown fields in unicode": `{${Array.from({ length: 4_000 }, (_, n) => `"💸${n}é":1`).join(",")}}`,
  "one field over and over": filled('{"a":1', ',"a":1', "}"),
  prototypes: filled('{"__proto__":{"a":1}', ',"__proto__":{"a":1}', "}"),
  escapes: filled('{"', String.raw`\u0041`, '":1}'),
  "a number of 65,000 digits": filled('{"amount":1', "1", "}"),
  "a number with a long exponent": filled('{"amount":1e', "9", "}"),
  surrogates: filled('{"', String.raw`\ud800`, '":1}'),
};

/** Values made for the fields of a quote. */
const VALUES: Readonly<Record<string, string>> = {
  "an amount of digits": inQuote("amount", "1"),
  "an amount of zeros": inQuote("amount", "0"),
  "an amount of points": inQuote("amount", "1."),
  "an amount that ends badly": quote(`"amount":"${"1".repeat(32_000)}.${"1".repeat(32_000)}x"`),
  "a sender of base58": inQuote("sender", "z"),
  "an asset of base58": quote(`"amount":"1","sender":"${"1".repeat(64_000)}"`),
  "an asset in unicode": inQuote("inputAsset", "💸"),
};

describe.each(sampled(WAYS, "ways of hostile bodies"))("$name", (way) => {
  const wayTest = httpTest
    .extend("http", ({ httpOf }) => {
      const many = { free: 100_000, pro: 100_000, enterprise: 100_000 };
      return httpOf(way, { handler: { limits: { quotes: many, quoteParties: many, creates: many } } });
    })
    .extend("client", ({ http }) => http.client())
    .extend("sender", ({ http }) => http.wallet("rich", { lamports: 10_000_000_000n, usdc: 10_000_000_000n }))
    .extend("expectHarmless", ({ client }) => async (path: string, body: string) => {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BODY_BYTES);
      const blocks: number[] = [];
      let answer = await client.post(path, body);
      do {
        blocks.push(
          await longestBlock(async () => {
            answer = await client.post(path, body);
          }),
        );
      } while (blocks.length < MAX_TRIES && Math.min(...blocks) > MAX_BLOCK_MS);
      expect(Math.min(...blocks)).toBeLessThanOrEqual(MAX_BLOCK_MS);
      expect(answer.text.length).toBeLessThan(8_192);
      return answer;
    });

  wayTest.for(Object.entries(SHAPES))("H21: %s", async ([, body], { expectHarmless }) => {
    for (const path of ["/v1/quotes", "/v1/transactions"]) {
      expect((await expectHarmless(path, body)).code).toBe("VALIDATION_ERROR");
    }
    expect(Object.prototype).not.toHaveProperty("a");
  });

  wayTest.for(Object.entries(VALUES))("H21: %s", async ([, body], { expectHarmless }) => {
    expect((await expectHarmless("/v1/quotes", body)).code).toBe("VALIDATION_ERROR");
  });

  wayTest(
    "H21: signed bytes of 64 KiB, as base64 and as what only looks like it",
    async ({ client, expectHarmless }) => {
      const { body } = await client.prepareSend();
      for (const unit of ["z", "AAAA", "=", "+/", "💸"]) {
        const start = JSON.stringify({ ...body, signedTransaction: "" }).slice(0, -2);
        const refused = await expectHarmless("/v1/transactions", filled(start, unit, '"}'));
        expect(refused.code).toBe("INVALID_SIGNATURE");
      }
    },
  );

  wayTest(
    "H21: 500 recipients that are all well formed, quoted with and without a sender, and posted",
    async ({ http, client, sender, expectHarmless }) => {
      // Deriving a token account takes a quarter of a millisecond, which 500 times is far too much.
      const recipients = Array.from({ length: 500 }, (_, index) => ({
        address: walletOf(String(index)),
        amount: "1",
      }));
      const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "500" };
      for (const fields of [{ recipients }, { recipients, sender: sender.address }]) {
        const refused = await expectHarmless("/v1/quotes", JSON.stringify({ ...asked, ...fields }));
        expect(refused.code).toBe("VALIDATION_ERROR");
      }
      const open = await client.post("/v1/quotes", asked);
      const { body } = await http.prepareSend(client.caller, {
        from: sender,
        to: http.wallet("somebody").address,
        amount: "1",
      });
      const declared = { ...body, type: "payroll", quoteId: open.body["quoteId"], recipients };
      const refused = await expectHarmless("/v1/transactions", JSON.stringify(declared));
      expect(refused.details["reason"]).toBe("content_mismatch");
    },
  );

  wayTest(
    "H21: as many recipients as a transaction could ever hold are priced in time",
    async ({ expectHarmless }) => {
      const recipients = Array.from({ length: 38 }, (_, index) => ({
        address: walletOf(`few ${index}`),
        amount: "1",
      }));
      const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "38", recipients };
      expect((await expectHarmless("/v1/quotes", JSON.stringify(asked))).status).toBe(201);
    },
  );

  wayTest("H21: webhooks whose URL or events fill the body", async ({ http }) => {
    const bodies = {
      INVALID_URL: filled('{"events":[],"url":"https://', "a.", '"}'),
      INVALID_EVENTS: JSON.stringify({
        url: "https://hooks.example.com/",
        events: Array.from({ length: 100 }, () => "x".repeat(128)),
      }),
      VALIDATION_ERROR: filled('{"url":"https://hooks.example.com/","events":["a"', ',"a"', "]}"),
    };
    for (const [code, body] of Object.entries(bodies)) {
      // Each counts against the hour's registrations, so everyone begins with an account of its own.
      const answers: Told[] = [];
      const block = await longestBlock(async () => {
        answers.push(await (await http.client()).post("/v1/webhooks", body));
      });
      expect(answers[0]?.code).toBe(code);
      expect(answers[0]?.text.length).toBeLessThan(20_000);
      expect(block).toBeLessThan(MAX_BLOCK_MS * MAX_TRIES);
    }
  });
});

test.each([nested("[", "", "]", 32_000), nested('{"a":', "1", "}", 10_000)])(
  "H21: what a parser before us has nested too deeply to be written again is VALIDATION_ERROR, and 401 without a key",
  async (body) => {
    const way = HOSTED_WAYS.find(({ name }) => name === "behind a JSON parser");
    if (way === undefined) throw new Error("there is such a way");
    const http = await httpFixture(way);
    try {
      const client = await http.client();
      const refused = await client.post("/v1/transactions", body);
      expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
      const headers = { "content-type": "application/json" };
      const stranger = await http.stranger("/v1/transactions", { method: "POST", body, headers });
      expect(stranger).toMatchObject({ status: 401, code: "INVALID_API_KEY" });
    } finally {
      await http.close();
    }
  },
);
