/** Lists of transactions over HTTP: pages, filters, references, and whose they are. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sampled } from "../kit/thorough.ts";
import { httpFixture, type Client, type HttpFixture, type Told } from "./http-fixture.ts";
import { WAYS } from "./ways.ts";

const idsOf = ({ body }: Told): string[] =>
  (body["data"] as { transactionId: string }[]).map(({ transactionId }) => transactionId);

describe.each(sampled(WAYS, "ways to lists"))("GET /v1/transactions, $name", (way) => {
  let http: HttpFixture;
  let client: Client;
  beforeAll(async () => {
    http = await httpFixture(way, {
      service: { broadcastDelayMs: 10_000 },
      handler: { limits: { reads: { free: 1_000, pro: 1_000, enterprise: 1_000 } } },
    });
  });
  beforeEach(async () => {
    client = await http.client();
  });
  afterAll(() => http.close());

  const send = async (more: object = {}): Promise<string> => {
    http.clock.advance(1_000);
    const { body } = await client.prepareSend();
    const created = await client.post("/v1/transactions", { ...body, ...more });
    expect(created.status).toBe(201);
    return String(created.body["transactionId"]);
  };
  const list = (query: string): Promise<Told> => client.get(`/v1/transactions${query}`);

  test("a list is paged from the newest on, each element is what GET shows, and a page names the next", async () => {
    expect((await list("")).body).toEqual({ data: [], hasMore: false });
    const made = [await send(), await send(), await send()].toReversed();
    const all = await list("");
    expect(idsOf(all)).toEqual(made);
    expect(all.body["hasMore"]).toBe(false);
    const one = await client.get(`/v1/transactions/${made[1] ?? ""}`);
    expect((all.body["data"] as unknown[])[1]).toEqual(one.body);
    const first = await list("?limit=2");
    expect([idsOf(first), first.body["hasMore"]]).toEqual([made.slice(0, 2), true]);
    const rest = await list(`?limit=2&startingAfter=${made[1] ?? ""}`);
    expect([idsOf(rest), rest.body["hasMore"]]).toEqual([made.slice(2), false]);
    expect((await list(`?startingAfter=${made[2] ?? ""}`)).body).toEqual({ data: [], hasMore: false });
    const exact = await list("?limit=3");
    expect([idsOf(exact), exact.body["hasMore"]]).toEqual([made, false]);
  });

  test("a reference is echoed by GET and lists, need not be unique, and is not another transaction's", async () => {
    const one = await send({ reference: "order-7" });
    const two = await send({ reference: "order-7" });
    const none = await send();
    expect((await client.get(`/v1/transactions/${one}`)).body["reference"]).toBe("order-7");
    expect((await client.get(`/v1/transactions/${none}`)).body["reference"]).toBeNull();
    expect(idsOf(await list("?reference=order-7"))).toEqual([two, one]);
    expect(idsOf(await list("?reference=order"))).toEqual([]);
    // Digits are text here, whatever they look like.
    const number = await send({ reference: "12" });
    expect(idsOf(await list("?reference=12"))).toEqual([number]);
  });

  test.each(["", "a b", "é", "x".repeat(129), "\n", 7, null])(
    "the reference %j is VALIDATION_ERROR and nothing is kept",
    async (reference) => {
      const { body } = await client.prepareSend();
      const refused = await client.post("/v1/transactions", { ...body, reference });
      expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
      expect(refused.details["fields"]).toMatchObject([{ path: "reference" }]);
      expect((await client.post("/v1/transactions", { ...body, reference: "!~" })).status).toBe(201);
    },
  );

  test("E18: the same bytes with another reference are no replay but a duplicate", async () => {
    const { body } = await client.prepareSend();
    const first = await client.post("/v1/transactions", { ...body, reference: "a" });
    const again = await client.post("/v1/transactions", { ...body, reference: "a" });
    expect([again.status, again.text]).toEqual([201, first.text]);
    const other = await client.post("/v1/transactions", { ...body, reference: "b" });
    expect(other).toMatchObject({ status: 409, code: "DUPLICATE_TRANSACTION" });
  });

  test("filters narrow the list, alone and together; a window begins with its first moment and ends before its last", async () => {
    const { body } = await client.prepareSend();
    const [first, second, third] = [await send({ reference: "a" }), await send(), await send()];
    await client.delete(`/v1/transactions/${second}`);
    expect(idsOf(await list("?status=cancelled"))).toEqual([second]);
    expect(idsOf(await list("?status=pending"))).toEqual([third, first]);
    expect(idsOf(await list("?type=send&mode=wallet"))).toEqual([third, second, first]);
    expect(idsOf(await list("?type=payroll"))).toEqual([]);
    expect(idsOf(await list("?mode=private"))).toEqual([]);
    const to = body.recipients[0]?.address ?? "";
    expect(idsOf(await list(`?recipient=${to}&limit=2`))).toEqual([third, second]);
    expect(idsOf(await list(`?recipient=${to}&status=cancelled`))).toEqual([second]);
    expect(idsOf(await list(`?recipient=${to}&reference=a&status=cancelled`))).toEqual([]);
    expect(idsOf(await list(`?recipient=${http.wallet("nobody").address}`))).toEqual([]);
    const at = String((await client.get(`/v1/transactions/${second}`)).body["createdAt"]);
    expect(idsOf(await list(`?createdBefore=${at}`))).toEqual([first]);
    expect(idsOf(await list(`?createdAfter=${at}`))).toEqual([third, second]);
    expect(idsOf(await list(`?createdAfter=${at}&createdBefore=${at}`))).toEqual([]);
    expect(idsOf(await list(`?createdBefore=${at}&startingAfter=${third}`))).toEqual([first]);
    expect(idsOf(await list(`?createdBefore=${at}&startingAfter=${first}`))).toEqual([]);
  });

  test.each([
    ["?limit=0", "limit"],
    ["?limit=101", "limit"],
    ["?limit=-1", "limit"],
    ["?limit=x", "limit"],
    ["?limit=1.5", "limit"],
    ["?limit=", "limit"],
    ["?limit=1&limit=2", "limit"],
    ["?status=done", "status"],
    ["?type=Send", "type"],
    ["?mode=", "mode"],
    ["?recipient=bob", "recipient"],
    ["?sender=alice", "sender"],
    ["?quoteId=", "quoteId"],
    ["?asset=", "asset"],
    ["?reference=", "reference"],
    ["?createdAfter=yesterday", "createdAfter"],
    ["?createdBefore=2026-01-01", "createdBefore"],
    ["?createdBefore=2026-01-01T00:00:00%2B01:00", "createdBefore"],
    ["?startingAfter=tx_0", "startingAfter"],
    ["?refrence=order-7", "refrence"],
    ["?__proto__=1", "__proto__"],
  ])("the query %s is VALIDATION_ERROR that names %s", async (query, path) => {
    const refused = await list(query);
    expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(refused.details["fields"]).toMatchObject([{ path }]);
  });

  test("H16: another account's transactions are in no list and are no place to begin at", async () => {
    const mine = await send({ reference: "secret" });
    const { body } = await client.prepareSend();
    const stranger = await http.client();
    for (const query of ["", "?reference=secret", `?recipient=${body.recipients[0]?.address ?? ""}`]) {
      expect((await stranger.get(`/v1/transactions${query}`)).body).toEqual({ data: [], hasMore: false });
    }
    const begun = await stranger.get(`/v1/transactions?startingAfter=${mine}`);
    const unknown = await stranger.get("/v1/transactions?startingAfter=tx_0");
    expect(begun.details["fields"]).toEqual(unknown.details["fields"]);
  });
});
