/** The export of wallet mode: what was paid, also by bytes that had been cancelled, and what nobody was paid. */
import { expect } from "vitest";
import type { ExportQuery } from "../../../src/payments/frame/requests.ts";
import type { WalletWorld } from "./wallet-world.ts";
import { walletTest as test } from "./wallet-test.ts";

const MINUTE = 60_000;

/** Rows of an hour, by their header. No cell of these tests has a comma. */
async function exported(
  { fixture, caller }: WalletWorld,
  from: number,
  by: NonNullable<ExportQuery["by"]>,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const [begin = "", end = ""] = [from, from + 60 * MINUTE].map((at) => new Date(at).toISOString());
  let text = "";
  for await (const part of await fixture.service.exportTransactions(caller, { from: begin, to: end, by })) {
    text += part;
  }
  const [header = "", ...lines] = text.split("\r\n");
  const names = header.split(",");
  return lines.slice(0, -2).map((line) => {
    const cells = line.split(",");
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
  });
}

test("Q11: bytes that land after their cancel are paid in the time when that was written down", async ({
  open,
}) => {
  const world = await open({ broadcastDelayMs: 5_000 });
  const { fixture, caller, bob } = world;
  const { body } = await world.pay();
  const { body: created } = await world.post(body);
  const begin = fixture.clock.now();
  await fixture.service.cancelTransaction(caller, created.transactionId);
  expect(await exported(world, begin, "created")).toEqual([]);
  fixture.clock.advance(1_000);
  const later = fixture.clock.now();
  await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
  await fixture.finalize();
  const rows = await exported(world, later, "final");
  expect(rows).toMatchObject([{ kind: "payment", status: "cancelled", amount: "1", address: bob.address }]);
  expect(await exported(world, begin, "created")).toEqual(rows);
});

test("Q11: a refund names what it refunds, and a send that nobody was paid by has no row", async ({
  open,
}) => {
  const world = await open();
  const { fixture, caller, alice, bob } = world;
  const begin = fixture.clock.now();
  const till = fixture.wallet("till", { lamports: 1_000_000_000n, usdc: 10_000_000n });
  fixture.chain.advance(35);
  const paid = await fixture.send(caller, { from: alice, to: bob.address, amount: "2" });
  await fixture.finalize();
  fixture.clock.advance(1_000);
  const { body } = await fixture.prepareSend(caller, { from: till, to: alice.address, amount: "0.5" });
  await world.post({ ...body, refundOf: paid.transactionId });
  await fixture.finalize();
  fixture.clock.advance(1_000);
  const lost = fixture.chain.faults.add(({ method }) =>
    method === "sendTransaction" ? { kind: "drop" } : undefined,
  );
  await world.post((await world.pay()).body);
  fixture.chain.advance(400);
  await fixture.pass(30_000);
  lost();
  const rows = await exported(world, begin, "created");
  expect(rows.map(({ kind, amount, refundOf }) => [kind, kind === "fee" ? "" : amount, refundOf])).toEqual([
    ["payment", "2", ""],
    ["fee", "", ""],
    ["payment", "0.5", paid.transactionId],
    ["fee", "", paid.transactionId],
  ]);
  const { data } = await fixture.service.listTransactions(caller);
  expect(data[0]).toMatchObject({ status: "failed", reason: "expired" });
});
