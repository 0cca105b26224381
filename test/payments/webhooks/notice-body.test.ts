/** The payload of a notice, field by field. */
// modules: webhooks
import { expect, test } from "vitest";
import { type Notice, noticeBody } from "../../../src/payments/frame/notices/notice-body.ts";

const notice: Notice = {
  event: "transaction.completed",
  transactionId: "tx_1",
  timestamp: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  data: {
    transactionId: "tx_1",
    status: "completed",
    mode: "wallet",
    type: "send",
    signature: "5sig",
    blockTime: 1_767_323_045,
    fee: "0.000005",
    recipients: [{ address: "Addr", amount: "1.5" }],
    reason: null,
    reference: "order-7",
    sender: "Alice",
    quoteId: "quote_1",
    inputAsset: "USDC",
    inputMint: "Mint",
    inputAmount: "1.5",
    outputAsset: "USDC",
    outputMint: "Mint",
    outputAmount: "1.5",
  },
};

test("the payload has its fields in the documented order, additions last", () => {
  expect(noticeBody(notice)).toBe(
    '{"event":"transaction.completed","transactionId":"tx_1","timestamp":"2026-01-02T03:04:05.006Z",' +
      '"data":{"transactionId":"tx_1","status":"completed","mode":"wallet","type":"send","signature":"5sig",' +
      '"blockTime":1767323045,"fee":"0.000005","recipients":[{"address":"Addr","amount":"1.5"}],"reason":null,"reference":"order-7",' +
      '"sender":"Alice","quoteId":"quote_1","inputAsset":"USDC","inputMint":"Mint","inputAmount":"1.5",' +
      '"outputAsset":"USDC","outputMint":"Mint","outputAmount":"1.5"}}',
  );
});

test("unknown values are null and never left out", () => {
  const data = { ...notice.data, signature: null, blockTime: null, fee: null };
  expect(JSON.parse(noticeBody({ ...notice, data }))).toMatchObject({
    data: { signature: null, blockTime: null, fee: null, reason: null },
  });
});

test("a failed private payroll says which recipients were paid", () => {
  const recipients = [
    { address: "A", amount: "1", status: "paid" },
    { address: "B", amount: "2", status: "unpaid" },
  ] as const;
  const body = noticeBody({
    ...notice,
    event: "transaction.failed",
    data: { ...notice.data, status: "failed", recipients, reason: "PARTIAL_PAYOUT" },
  });
  expect(JSON.parse(body)).toMatchObject({ data: { recipients, reason: "PARTIAL_PAYOUT" } });
});

test("the order of the input and fields nobody asked for leave no trace in the bytes", () => {
  const shuffled = {
    data: { secret: "x", ...Object.fromEntries(Object.entries(notice.data).toReversed()) },
    extra: 1,
    timestamp: notice.timestamp,
    transactionId: notice.transactionId,
    event: notice.event,
  } as unknown as Notice;
  expect(noticeBody(shuffled)).toBe(noticeBody(notice));
});
