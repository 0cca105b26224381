/** The export of a month: rows of RFC 4180 that a spreadsheet may open, read in pages, and never taken for whole when it is not. */
import { expect, test as vitestTest } from "vitest";
import { nullRows } from "../contracts/storage/rows.ts";
import { closingStorage, type ClosingStorage } from "../kit/closing-storage.ts";
import { newStorage } from "../kit/new-storage.ts";
import { httpFixture, type Client, type HttpFixture } from "./http-fixture.ts";
import { WAYS, type Way } from "./ways.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A service whose database can go away, and a customer of it. */
interface Month extends Omit<HttpFixture, "client"> {
  readonly database: ClosingStorage;
  readonly client: Client;
  /** When it was opened. */
  readonly begin: number;
  /** Writes so many wallet sends that were paid, one each minute. */
  fill(count: number): Promise<void>;
  export(query?: { readonly from?: number; readonly to?: number; readonly by?: string }): Promise<Response>;
}

const test = vitestTest.extend("openMonth", ({}, { onCleanup }) => {
  return async (way: Way): Promise<Month> => {
    const database = closingStorage(await newStorage());
    const reads = { free: 1_000, pro: 1_000, enterprise: 1_000 };
    const http = await httpFixture(way, {
      service: { storage: database.storage },
      handler: { limits: { reads } },
    });
    onCleanup(async () => {
      database.reopen();
      await http.close();
      await database.end();
    });
    const client = await http.client();
    const begin = http.clock.now();
    return {
      ...http,
      database,
      client,
      begin,
      async fill(count) {
        const { USDC } = http.mints;
        const results = await http.storage.commit(
          Array.from({ length: count }, (_, n) => {
            const id = `tx_${String(n).padStart(6, "0")}`;
            const own = { accountId: client.caller.accountId, createdAt: begin + n * MINUTE };
            const asset = { inputMint: USDC, outputMint: USDC, feeMint: USDC };
            const transaction = { ...nullRows.transactions, ...own, ...asset, id };
            const recipient = { ...nullRows.recipients, ...own, id: `${id}:0`, transactionId: id, index: 0 };
            const insert = { ...transaction, mode: "wallet", status: "completed", fee: null } as const;
            return {
              writes: [
                { table: "transactions", insert },
                { table: "recipients", insert: recipient },
              ],
            };
          }),
        );
        expect(results.every(({ ok }) => ok)).toBe(true);
      },
      export: ({ from = begin - DAY, to = begin + 30 * DAY, by = "created" } = {}) => {
        const times = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
        const headers = { authorization: `Bearer ${client.key}` };
        return http.ask(`/v1/transactions/export?${times}&by=${by}`, { headers });
      },
    };
  };
});

/** The records of a text without quoted line breaks. */
const linesOf = (text: string): readonly string[] => text.split("\r\n");

/** Rows by their header. */
function rowsOf(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = "", ...rest] = linesOf(text);
  const names = header.split(",");
  return rest.slice(0, -2).map((line) => {
    const cells = line.match(/("([^"]|"")*"|[^,]*)(,|$)/g) ?? [];
    return Object.fromEntries(names.map((name, index) => [name, (cells[index] ?? "").replace(/,$/, "")]));
  });
}

const IN_PROCESS = WAYS[0] as Way;

test.for(WAYS)("Q11: a month with =1+1 and a comma as references, $name", async (way, { openMonth }) => {
  const month = await openMonth(way);
  for (const reference of ["=1+1", 'a,"b"', "-7", "plain"]) {
    month.clock.advance(1_000);
    const { body } = await month.client.prepareSend();
    expect((await month.client.post("/v1/transactions", { ...body, reference })).status).toBe(201);
    await month.finalize();
  }
  const answer = await month.export();
  expect(answer.headers.get("content-type")).toBe("text/csv");
  const text = await answer.text();
  expect(linesOf(text).slice(-2)).toEqual(["#end,8", ""]);
  const rows = rowsOf(text);
  const references = rows.filter(({ kind }) => kind === "payment").map(({ reference }) => reference);
  expect(rows.map(({ kind }) => kind)).toEqual(references.flatMap(() => ["payment", "fee"]));
  expect(references).toEqual(["'=1+1", '"a,""b"""', "'-7", "plain"]);
  const { data } = await month.service.listTransactions(month.client.caller);
  const [oldest] = data.toReversed();
  expect(rows[0]).toMatchObject({
    transactionId: oldest?.transactionId,
    createdAt: oldest?.createdAt,
    blockTime: String(oldest?.blockTime),
    type: "send",
    mode: "wallet",
    status: "completed",
    reason: "",
    asset: "USDC",
    mint: month.mints.USDC,
    amount: "1",
    address: oldest?.recipients[0]?.address,
    outputAsset: "USDC",
    outputAmount: "1",
    signature: oldest?.signature,
    sender: oldest?.sender,
    quoteId: oldest?.quoteId,
    refundOf: "",
  });
  expect(rows[1]).toMatchObject({ asset: "SOL", mint: "", amount: oldest?.fee, address: "" });
  expect(await (await month.export({ by: "final" })).text()).toBe(text);
});

test("Q11: windows laid end to end have each row once, by either time", async ({ openMonth }) => {
  const month = await openMonth(IN_PROCESS);
  const { body } = await month.client.prepareSend();
  await month.client.post("/v1/transactions", body);
  month.clock.advance(MINUTE);
  await month.finalize();
  const { finalAt, createdAt } = rowsOf(await (await month.export()).text())[0] ?? {};
  const countIn = async (by: string, from: number, to: number): Promise<number> =>
    rowsOf(await (await month.export({ by, from, to })).text()).length;
  expect(finalAt).not.toBe(createdAt);
  for (const [by, text = ""] of [
    ["created", createdAt],
    ["final", finalAt],
  ] as const) {
    const at = Date.parse(text);
    expect(await countIn(by, at - DAY, at)).toBe(0);
    expect(await countIn(by, at, at + 1)).toBe(2);
    expect(await countIn(by, at + 1, at + DAY)).toBe(0);
  }
});

test("Q11: one that is still open has no row by its end, and none of another account's is told", async ({
  openMonth,
}) => {
  const month = await openMonth(IN_PROCESS);
  const { body } = await month.client.prepareSend();
  await month.client.post("/v1/transactions", body);
  expect(linesOf(await (await month.export({ by: "final" })).text())[1]).toBe("#end,0");
  await month.finalize();
  const other = await month.service.createAccount({ name: "other", tier: "free" });
  const theirs = await month.service.exportTransactions(
    { accountId: other.accountId, tier: "free", scopes: ["transactions:read"] },
    { from: new Date(month.begin - DAY).toISOString(), to: new Date(month.begin + DAY).toISOString() },
  );
  expect(linesOf(await textOf(theirs))[1]).toBe("#end,0");
});

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}

test.for(WAYS)(
  "Q11: the database goes in the middle of it: the connection breaks, $name",
  async (way, { openMonth }) => {
    const month = await openMonth(way);
    await month.fill(350);
    const whole = await (await month.export()).text();
    expect(linesOf(whole).at(-2)).toBe("#end,350");
    month.database.after(12, () => void month.database.close());
    const answer = await month.export();
    expect(answer.status).toBe(200);
    let begun = "";
    const decoder = new TextDecoder();
    const read = async (): Promise<void> => {
      for await (const chunk of answer.body ?? []) begun += decoder.decode(chunk as Uint8Array);
    };
    await expect(read()).rejects.toThrow(way === IN_PROCESS ? "the answer broke off" : "terminated");
    expect(whole.startsWith(begun)).toBe(true);
    expect(begun).not.toContain("#end");
    month.database.reopen();
    expect(await (await month.export()).text()).toBe(whole);
  },
);

test("Q11: a database that is away from the beginning is told as such", async ({ openMonth }) => {
  const month = await openMonth(IN_PROCESS);
  await month.fill(1);
  const { caller } = month.client;
  const times = {
    from: new Date(month.begin - DAY).toISOString(),
    to: new Date(month.begin + DAY).toISOString(),
  };
  await month.database.close();
  await expect((await month.service.exportTransactions(caller, times)).next()).rejects.toThrow("not open");
  month.database.reopen();
  expect((await month.export()).status).toBe(200);
});

test("Q11: it is read no faster than its reader takes it", async ({ openMonth }) => {
  const month = await openMonth(IN_PROCESS);
  await month.fill(1_000);
  let rows = 0;
  const parts = await month.service.exportTransactions(month.client.caller, {
    from: new Date(month.begin - DAY).toISOString(),
    to: new Date(month.begin + DAY).toISOString(),
  });
  for await (const part of parts) {
    expect(linesOf(part).length).toBeLessThan(110);
    rows += linesOf(part).length - 1;
  }
  expect(rows).toBe(1_002);
});

test("Q11: an account has one at a time, until it is over, left, or not read for a minute", async ({
  openMonth,
}) => {
  const month = await openMonth(IN_PROCESS);
  await month.fill(350);
  const first = await month.export();
  const refused = await month.export();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    error: { code: "RATE_LIMIT_EXCEEDED", details: { scope: "export", limit: 1, retryAfter: 60 } },
  });
  await first.body?.cancel();
  const second = await month.export();
  expect(second.status).toBe(200);
  month.clock.advance(MINUTE);
  const third = await month.export();
  await expect(second.text()).rejects.toThrow("the answer broke off");
  expect(linesOf(await third.text()).at(-2)).toBe("#end,350");
  expect((await month.export()).status).toBe(200);
});

test.for(WAYS)("Q11: HEAD has no text, and leaves the place free, $name", async (way, { openMonth }) => {
  const month = await openMonth(way);
  const query = `from=${new Date(month.begin).toISOString()}&to=${new Date(month.begin + DAY).toISOString()}`;
  const path = `/v1/transactions/export?${query}`;
  const head = await month.client.request(path, { method: "HEAD" });
  expect([head.status, head.headers.get("content-type"), head.text]).toEqual([200, "text/csv", ""]);
  expect((await month.export()).status).toBe(200);
});

test("Q11: more than 31 days, times in the wrong order and no times are refused by the field's name", async ({
  openMonth,
}) => {
  const month = await openMonth(IN_PROCESS);
  const { begin, client } = month;
  const fieldOf = async (query: string): Promise<unknown> =>
    (await client.get(`/v1/transactions/export${query}`)).details["fields"];
  const span = (ms: number): string =>
    `?from=${new Date(begin).toISOString()}&to=${new Date(begin + ms).toISOString()}`;
  expect(await fieldOf(span(31 * DAY + 1))).toEqual([
    { path: "to", message: "expected at most 31 days after `from`" },
  ]);
  expect(await fieldOf(span(0))).toEqual([{ path: "to", message: "expected a time after `from`" }]);
  expect(await fieldOf("")).toEqual([
    { path: "from", message: 'expected a time in UTC such as "2027-01-31T12:00:00Z"' },
    { path: "to", message: 'expected a time in UTC such as "2027-01-31T12:00:00Z"' },
  ]);
  expect((await month.export({ from: begin, to: begin + 31 * DAY })).status).toBe(200);
  expect((await client.delete("/v1/transactions/export")).code).toBe("METHOD_NOT_ALLOWED");
});
