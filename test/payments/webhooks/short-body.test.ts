/** Bodies of notices, as they are stored: short, and byte for byte those that were sent. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { paymentTables } from "../../../src/payments/payment-storage.ts";
import { shortBody, wholeBody } from "../../../src/payments/frame/tables/short-body.ts";
import { noticeBody, type Notice } from "../../../src/payments/frame/notices/notice-body.ts";
import { webhookTest } from "./webhook-test.ts";

const row = { transactionId: "tx_1", signature: "5sig", createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6) };
const REPEATED = [
  "tx_1",
  "5sig",
  "2026-01-02T03:04:05.006Z",
  '"},{"address":"',
  "\u0001",
  "\u0009",
  "$&",
  "\\",
];
const text = fc.oneof(
  fc.constantFrom(...REPEATED),
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom(...REPEATED)).map((parts) => parts.join("")),
);

test("L7: a stored body is read byte for byte as it was, whatever texts it holds", () => {
  const data = fc.record({
    transactionId: text,
    status: fc.constantFrom("pending" as const, "completed" as const, "failed" as const),
    mode: fc.constantFrom("wallet" as const, "private" as const),
    type: fc.constantFrom("send" as const, "payroll" as const, "swap" as const),
    signature: fc.option(text),
    blockTime: fc.option(fc.integer()),
    fee: fc.option(text),
    recipients: fc.array(fc.record({ address: text, amount: text })),
    reason: fc.option(text),
    reference: fc.option(text),
    sender: text,
    quoteId: text,
    inputAsset: text,
    inputMint: fc.option(text),
    inputAmount: text,
    outputAsset: text,
    outputMint: fc.option(text),
    outputAmount: text,
  });
  const whole = fc.record({ event: fc.constant("transaction.pending" as const), transactionId: text, data });
  fc.assert(
    fc.property(whole, fc.option(text), (notice, signature) => {
      const body = noticeBody({ ...notice, timestamp: row.createdAt });
      const own = { ...row, signature };
      expect(wholeBody(shortBody(body, own), own)).toBe(body);
    }),
  );
});

const send: Notice["data"] = {
  transactionId: "tx_1",
  status: "completed",
  mode: "wallet",
  type: "send",
  signature: "5sig",
  blockTime: 7,
  fee: "0.000005",
  recipients: [
    { address: "A", amount: "1" },
    { address: "B", amount: "2" },
  ],
  reason: null,
  reference: null,
  sender: "S",
  quoteId: "quote_7",
  inputAsset: "SOL",
  inputMint: null,
  inputAmount: "3",
  outputAsset: "SOL",
  outputMint: null,
  outputAmount: "3",
};

/** As 0.1.0 stored them. Once written here, a line stays. */
test.for([
  [
    '\u0006pending\u0007\u0001\b\u0003\u000b\u0001\fcompleted\u000e"\u0002"\u00137\u0014"0.000005"\u0015A\u00171\u0016B\u00172\u0018S\u001b7\u001cSOL","inputMint":null\u001d3\u001eSOL","outputMint":null\u001f3"}}',
    send,
  ],
  [
    '\u0006pending\u0007\u0001\b\u0003\u000b\u0001\ffailed\u000fprivate\u0010payroll\u0011"\u0002"\u0012\u0015A\u00171\fpaid\u0019"X"\u001a"r","sender":"S\u001b7\u001cSOL","inputMint":null\u001d3\u001eSOL","outputMint":null\u001f3"}}',
    {
      ...send,
      status: "failed",
      mode: "private",
      type: "payroll",
      blockTime: null,
      fee: null,
      reason: "X",
      reference: "r",
      recipients: [{ address: "A", amount: "1", status: "paid" }],
    },
  ],
] as const)(
  "L7: what was stored once is read as the same body by every later program: %#",
  ([stored, data]) => {
    const body = noticeBody({
      event: "transaction.pending",
      transactionId: "tx_1",
      timestamp: row.createdAt,
      data,
    });
    expect(wholeBody(stored, row)).toBe(body);
    expect(shortBody(body, row)).toBe(stored);
  },
);

webhookTest(
  "L7: two fifths of a notice's body is stored at most, and whoever reads the notice gets all of it",
  async ({ fixture, posts, register, sendOne, customer }) => {
    await register();
    const transactionId = await sendOne();
    await fixture.finalize();
    const kept = await fixture.storage.find({ table: paymentTables.notices });
    const sent = new Map(posts().map(({ headers, body }) => [headers["webhook-id"], body.toString("utf8")]));
    const { data: listed } = await fixture.service.events(customer);
    const { data: timeline } = await fixture.service.transactionEvents(customer, transactionId);
    expect(kept).toHaveLength(3);
    for (const { id, body } of kept) {
      const whole = String(sent.get(id));
      expect(String(body).length).toBeLessThan((whole.length * 2) / 5);
      expect((await fixture.storage.notice(id))?.body).toBe(whole);
      const { data } = JSON.parse(whole) as Notice;
      expect(listed.find(({ eventId }) => eventId === id)?.data).toEqual(data);
      expect(timeline.find(({ eventId }) => eventId === id)?.data).toEqual(data);
    }
  },
);
