/** Wallet payments through a relay that wants a tip. */
import { PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { expect } from "vitest";
import { formatAmount } from "../../../src/amount.ts";
import type { Address } from "../../../src/address.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import { lastTransfer, tipRelay, type TipRelay } from "../../kit/tip-relay.ts";
import { units } from "../../kit/private-fixture.ts";
import { serviceTest } from "../../kit/service-test.ts";
import type { PreparedSend, ServiceFixture } from "../../kit/service-fixture.ts";
import { expectRefusal } from "./wallet-world.ts";

const TIP = 100_000n;

/** Alice pays Bob through a service whose relay wants a tip. */
interface TippedWorld extends ServiceFixture {
  readonly relay: TipRelay;
  readonly accounts: readonly Address[];
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  quoted(asset?: string, amount?: string): Promise<PreparedSend>;
  /** Posts the quoted transaction with these transfers of SOL behind it, none of its own tip, signed by Alice. */
  postWith(
    prepared: PreparedSend,
    ...transfers: readonly (readonly [to: string, lamports: bigint])[]
  ): Promise<unknown>;
}

const test = serviceTest.extend("tipped", async ({ open }): Promise<TippedWorld> => {
  let made: Pick<TippedWorld, "relay" | "accounts"> | undefined;
  const world = await open({}, ({ chain, wallet, ledgerOf }) => {
    const accounts = ["one", "two"].map((name) => wallet(name, { lamports: 1_000_000_000n }).address);
    const relay = tipRelay(chain, accounts, TIP);
    made = { relay, accounts };
    const ledger = ledgerOf([{ url: "http://node.example", fetch: chain.fetch }, relay.option]);
    return { ledger: { ...ledger, time: async () => null } };
  });
  if (made === undefined) throw new Error("a world is opened with its ledger");
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: 5_000_000_000n, usdc: 50_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const quoted: TippedWorld["quoted"] = (asset = "USDC", amount = "1") =>
    world.prepareSend(customer, { from: alice, to: bob.address, amount, asset });
  return {
    ...world,
    ...made,
    customer,
    alice,
    bob,
    quoted,
    async postWith({ quote, body }, ...transfers) {
      const unsigned = VersionedTransaction.deserialize(Buffer.from(quote.transaction ?? "", "base64"));
      const { payerKey, recentBlockhash, instructions } = TransactionMessage.decompile(unsigned.message);
      const others = transfers.map(([to, lamports]) =>
        SystemProgram.transfer({
          fromPubkey: new PublicKey(alice.address),
          toPubkey: new PublicKey(to),
          lamports,
        }),
      );
      const message = new TransactionMessage({
        payerKey,
        recentBlockhash,
        instructions: [...instructions.slice(0, -1), ...others],
      }).compileToLegacyMessage();
      const bytes = Buffer.from(new VersionedTransaction(message).serialize()).toString("base64");
      const signedTransaction = world.sign(bytes, alice);
      return world.service.createTransaction(customer, {
        ...body,
        recipients: [...body.recipients],
        signedTransaction,
      });
    },
  };
});

test.for(["USDC", "SOL"])(
  "N16: a quote's own tip in %s stands last, is told in fees.network and in the fee, goes to the relay and lands",
  async (asset, { tipped: world }) => {
    const { quote, body } = await world.quoted(asset);
    const last = lastTransfer(Buffer.from(quote.transaction ?? "", "base64"));
    expect(last).toMatchObject({ from: world.alice.address, lamports: TIP });
    expect(world.accounts).toContain(last?.to);
    expect(Number(quote.fees.network)).toBeGreaterThan(0.0001);
    const { body: created } = await world.service.createTransaction(world.customer, {
      ...body,
      recipients: [...body.recipients],
    });
    await world.finalize();
    const shown = await world.service.transaction(world.customer, created.transactionId);
    expect(shown).toMatchObject({ status: "completed", fee: quote.fees.network });
    expect([...world.relay.sent]).toEqual([body.signedTransaction]);
    expect(await world.service.operator.attention()).toEqual([]);
  },
);

test("N16: the tip of the quote itself passes the verifier, once, and no other transfer does", async ({
  tipped: world,
}) => {
  const prepared = await world.quoted();
  const own = lastTransfer(Buffer.from(prepared.quote.transaction ?? "", "base64"))?.to ?? "";
  const other = world.accounts.find((account) => account !== own) ?? "";
  const refused = async (...transfers: readonly (readonly [string, bigint])[]): Promise<void> => {
    await expectRefusal(world.postWith(prepared, ...transfers), "INVALID_SIGNATURE", {
      reason: "content_mismatch",
    });
  };
  await refused([own, TIP - 1n]);
  await refused([own, TIP + 1n]);
  await refused([own, TIP], [own, TIP]);
  await refused([other, TIP]);
  await refused([world.bob.address, TIP]);
  await refused([own, TIP], [world.bob.address, 1n]);
  // Who takes it out pays nothing for it, and the relay is not sent the bytes.
  await expect(world.postWith(prepared)).resolves.toBeDefined();
  await world.finalize();
  expect(world.relay.sent.size).toBe(0);
  // Of a quote without a transaction of its own no tip is known.
  const { quote, body } = await world.quoted();
  const { body: bare } = await world.service.createQuote(world.customer, {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "1",
  });
  expect(Number(bare.fees.network)).toBeLessThan(Number(quote.fees.network));
  const request = { ...body, recipients: [...body.recipients], quoteId: bare.quoteId };
  await expectRefusal(world.service.createTransaction(world.customer, request), "INVALID_SIGNATURE", {
    reason: "content_mismatch",
  });
});

test("N16: a quote keeps its own tip, whatever relay the service that takes the transaction sends to", async ({
  tipped: world,
}) => {
  const node = { url: "http://node.example", fetch: world.chain.fetch };
  const other = tipRelay(world.chain, [world.bob.address], 3n * TIP).option;
  for (const endpoints of [[node], [node, other]]) {
    const service = world.another({ ledger: world.ledgerOf(endpoints) });
    const { body } = await world.quoted();
    const request = { ...body, recipients: [...body.recipients] };
    await expect(service.createTransaction(world.customer, request)).resolves.toBeDefined();
    // And what was quoted without a tip admits none.
    const bare = await service.createQuote(world.customer, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "1",
      sender: world.alice.address,
      recipients: [...body.recipients],
    });
    expect(lastTransfer(Buffer.from(bare.body.transaction ?? "", "base64"))?.lamports).not.toBe(TIP);
    const late = { ...(await world.quoted()).body, quoteId: bare.body.quoteId };
    const refused = world.service.createTransaction(world.customer, {
      ...late,
      recipients: [...late.recipients],
    });
    await expectRefusal(refused, "INVALID_SIGNATURE", { reason: "content_mismatch" });
  }
});

test("N16: the fee tells the tip that was paid, also where the relay is gone at the landing", async ({
  tipped: world,
}) => {
  const { quote, body } = await world.quoted();
  const request = { ...body, recipients: [...body.recipients] };
  const { body: created } = await world.service.createTransaction(world.customer, request);
  await world.service.stop();
  const service = world.another({
    ledger: world.ledgerOf([{ url: "http://node.example", fetch: world.chain.fetch }]),
  });
  await service.start();
  await service.settled();
  world.chain.advance(40);
  await world.pass(60_000);
  await service.settled();
  expect(await service.transaction(world.customer, created.transactionId)).toMatchObject({
    status: "completed",
    fee: quote.fees.network,
  });
  await service.stop();
});

test("N16: what is paid to a relay as the payment itself is no part of the fee", async ({
  tipped: world,
}) => {
  const [one = "", two = ""] = world.accounts;
  const recipients = [
    { address: world.bob.address, amount: "0.01" },
    { address: one, amount: "0.0001" },
    { address: two, amount: "0.0001" },
  ];
  const { body: quote } = await world.service.createQuote(world.customer, {
    inputAsset: "SOL",
    outputAsset: "SOL",
    amount: "0.0102",
    sender: world.alice.address,
    recipients,
  });
  const signedTransaction = world.sign(quote.transaction ?? "", world.alice);
  const { body: created } = await world.service.createTransaction(world.customer, {
    type: "payroll",
    quoteId: quote.quoteId,
    sender: world.alice.address,
    recipients,
    signedTransaction,
  });
  await world.finalize();
  expect(await world.service.transaction(world.customer, created.transactionId)).toMatchObject({
    status: "completed",
    fee: quote.fees.network,
  });
});

test("N16: a sender who has too little for the tip is told how much is missing", async ({
  tipped: world,
}) => {
  const poor = world.wallet("poor", { lamports: 3_000_000n, usdc: 5_000_000n });
  const { body, quote } = await world.prepareSend(world.customer, {
    from: poor,
    to: world.bob.address,
    amount: "0.0021",
    asset: "SOL",
  });
  const rent = await world.ledger.rentMinimum(0);
  const required = units("0.0021", 9) + units(quote.fees.network, 9) + rent;
  const request = { ...body, recipients: [...body.recipients] };
  await expectRefusal(world.service.createTransaction(world.customer, request), "INSUFFICIENT_BALANCE", {
    asset: "SOL",
    required: formatAmount(required, 9),
  });
});

test("N16: a quote with as many payees as its bytes hold has no tip, as before", async ({
  tipped: world,
}) => {
  const payees = Array.from({ length: 20 }, (_, index) => world.wallet(`payee ${index}`).address);
  const { body: quote } = await world.service.createQuote(world.customer, {
    inputAsset: "SOL",
    outputAsset: "SOL",
    amount: "0.02",
    sender: world.alice.address,
    recipients: payees.map((address) => ({ address, amount: "0.001" })),
  });
  const last = lastTransfer(Buffer.from(quote.transaction ?? "", "base64"));
  expect(world.accounts).not.toContain(last?.to);
  expect(last?.lamports).toBe(1_000_000n);
});

test("N16: a quote whose token accounts may need the whole trace has no tip, however much room its bytes have", async ({
  tipped: world,
}) => {
  const tipTo = async (count: number): Promise<bigint | null> => {
    const payees = Array.from({ length: count }, (_, index) => world.wallet(`payee ${index}`).address);
    const { body: quote } = await world.service.createQuote(world.customer, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: String(count),
      sender: world.alice.address,
      recipients: payees.map((address) => ({ address, amount: "1" })),
    });
    const bytes = Buffer.from(quote.transaction ?? "", "base64");
    // The account of the relay and its transfer.
    expect(bytes.length + (count === 8 ? 49 : 0)).toBeLessThanOrEqual(1_232);
    return lastTransfer(bytes)?.lamports ?? null;
  };
  // Two for the budget, eight for each payee, one for the tip: 59 and 67 of 64.
  expect(await tipTo(7)).toBe(TIP);
  expect(await tipTo(8)).toBeNull();
});

test("N16: a quote of version 1 carries its own tip, and no other transfer passes; at the most addresses it has none", async ({
  tipped: world,
}) => {
  const quoteFor = async (count: number) => {
    const payees = Array.from({ length: count }, (_, index) => world.wallet(`payee ${index}`).address);
    const recipients = payees.map((address) => ({ address, amount: "0.01" }));
    const { body: quote } = await world.service.createQuote(world.customer, {
      inputAsset: "SOL",
      outputAsset: "SOL",
      amount: String(count / 100),
      sender: world.alice.address,
      recipients,
      transactionVersion: 1,
    });
    const unsigned = Buffer.from(quote.transaction ?? "", "base64");
    return { quote, recipients, unsigned, last: lastTransfer(unsigned) };
  };
  const { quote, recipients, unsigned, last } = await quoteFor(30);
  expect(last).toMatchObject({ from: world.alice.address, lamports: TIP });
  const request = {
    type: "payroll",
    quoteId: quote.quoteId,
    sender: world.alice.address,
    recipients,
  } as const;
  // The lamports of the last transfer stand at the end of the message, before one signature.
  const more = Buffer.from(unsigned);
  more.writeBigUInt64LE(TIP + 1n, more.length - 64 - 8);
  await expectRefusal(
    world.service.createTransaction(world.customer, {
      ...request,
      signedTransaction: world.sign(more.toString("base64"), world.alice),
    }),
    "INVALID_SIGNATURE",
    { reason: "content_mismatch" },
  );
  const signedTransaction = world.sign(unsigned.toString("base64"), world.alice);
  const { body } = await world.service.createTransaction(world.customer, { ...request, signedTransaction });
  await world.finalize();
  expect(await world.service.transaction(world.customer, body.transactionId)).toMatchObject({
    status: "completed",
    fee: quote.fees.network,
  });
  expect([...world.relay.sent]).toEqual([signedTransaction]);
  const full = await quoteFor(61);
  expect(full.last?.lamports).toBe(10_000_000n);
});
