/** Transactions of version 1 in wallet mode, from the quote to finality, on a chain that runs them. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import type { LocalChain } from "../../../src/local/index.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { oddEndpoint } from "../../kit/odd-endpoints.ts";
import { FeeMarket } from "../../kit/fee-market.ts";
import { units } from "../../kit/money.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { serviceTest as test } from "../../kit/service-test.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { signAgain } from "../../kit/sign-again.ts";
import { signedVersion1 } from "../../kit/version-1.ts";
import { keyOf, land } from "../../solana/signed-transaction.ts";
import { refusal } from "./wallet-world.ts";

const RICH = { lamports: 10_000_000_000n, usdc: 1_000_000_000n };
/** What nobody can know before they are paid: a wallet without lamports and without accounts. */
const payees = (world: ServiceFixture, count: number): Wallet[] =>
  Array.from({ length: count }, (_, index) => world.wallet(`payee ${index}`));

interface Payroll {
  readonly from: Wallet;
  readonly to: readonly Pick<Wallet, "address">[];
  readonly asset: "SOL" | "USDC";
}

/** A quote of version 1 that pays each of them 0.01. */
async function quoted(world: ServiceFixture, caller: Caller, { from, to, asset }: Payroll) {
  const recipients = to.map(({ address }) => ({ address, amount: "0.01" }));
  const asked = { inputAsset: asset, outputAsset: asset, sender: from.address, recipients } as const;
  const amount = String(to.length / 100);
  const { body: quote } = await world.service.createQuote(caller, {
    ...asked,
    amount,
    transactionVersion: 1,
  });
  return { quote, recipients };
}

async function paid(world: ServiceFixture, caller: Caller, payroll: Payroll) {
  const { quote, recipients } = await quoted(world, caller, payroll);
  const { body } = await world.service.createTransaction(caller, {
    type: recipients.length === 1 ? "send" : "payroll",
    quoteId: quote.quoteId,
    sender: payroll.from.address,
    recipients,
    signedTransaction: world.sign(quote.transaction ?? "", payroll.from),
  });
  await world.finalize();
  return { quote, landed: await world.service.transaction(caller, body.transactionId) };
}

test.for(["SOL", "USDC"] as const)(
  "N6: a quote of version 1 in %s is signed, sent and followed to its end, at the price that was quoted",
  async (asset, { world }) => {
    const caller = await world.caller();
    const [alice, bob] = [world.wallet("alice", RICH), world.wallet("bob", { lamports: 1_000_000n })];
    const { quote, landed } = await paid(world, caller, { from: alice, to: [bob], asset });
    expect(quote.transactionVersion).toBe(1);
    expect(Buffer.from(quote.transaction ?? "", "base64")[0]).toBe(0x81);
    expect(landed).toMatchObject({ status: "completed", recipients: [{ amount: "0.01", status: "paid" }] });
    expect(landed.fee).toBe(quote.fees.network);
    expect(units(quote.fees.network, 9)).toBeGreaterThan(5_000n);
    const { address } = alice;
    const [held] = (await world.ledger.funds([address], [], "finalized")).funds;
    const amount = asset === "SOL" ? 10_000_000n : 0n;
    expect(held?.lamports).toBe(RICH.lamports - amount - units(quote.fee, 9));
  },
);

test.for([
  { asset: "SOL", most: 61 },
  { asset: "USDC", most: 8 },
] as const)(
  "N6: a quote of version 1 takes $most payees in $asset, none of whom has an account and whose addresses somebody has sent lamports to, and names that maximum",
  async ({ asset, most }, { world }) => {
    const caller = await world.caller();
    const alice = world.wallet("alice", RICH);
    const to = payees(world, most + 1);
    const accounts = to.map(({ address }) => associatedTokenAddress(address, world.mints.USDC));
    for (const account of asset === "SOL" ? [] : accounts) {
      const lamports = 1_000_000;
      const prefund = { fromPubkey: keyOf(alice), toPubkey: new PublicKey(account), lamports };
      await land(world, { signers: [alice], instructions: [SystemProgram.transfer(prefund)] });
    }
    const tooMany = await refusal(quoted(world, caller, { from: alice, to, asset }));
    expect(tooMany.details).toEqual({
      fields: [
        {
          path: "recipients",
          message: `at most ${most} recipients in a transaction of version 1 in ${asset}`,
        },
      ],
    });
    const { landed } = await paid(world, caller, { from: alice, to: to.slice(1), asset });
    expect(landed.status).toBe("completed");
    expect(landed.recipients).toHaveLength(most);
    expect(landed.recipients.every(({ status }) => status === "paid")).toBe(true);
  },
);

test("N1, N6: where blocks refuse low bids, version 1 bids in lamports what a legacy transaction bids by price", async ({
  world,
}) => {
  const caller = await world.caller();
  const [alice, bob] = [world.wallet("alice", RICH), world.wallet("bob", { lamports: 1_000_000n })];
  const market = new FeeMarket();
  [market.least, market.told] = [20_000n, [20_000]];
  const ledger = world.ledgerOf([oddEndpoint(world.chain, "market", market.rule).option]);
  const service = world.another({ ledger: { ...ledger, time: async () => null } });
  await service.start();
  const recipients = [{ address: bob.address, amount: "0.01" }];
  const asked = { inputAsset: "SOL", outputAsset: "SOL", amount: "0.01", sender: alice.address, recipients };
  const { body: legacy } = await service.createQuote(caller, asked);
  const { body: quote } = await service.createQuote(caller, { ...asked, transactionVersion: 1 });
  expect(quote.fees).toEqual(legacy.fees);
  const { body } = await service.createTransaction(caller, {
    type: "send",
    quoteId: quote.quoteId,
    sender: alice.address,
    recipients,
    signedTransaction: world.sign(quote.transaction ?? "", alice),
  });
  await service.settled();
  world.chain.advance(40);
  await service.settled();
  const { status, fee } = await service.transaction(caller, body.transactionId);
  expect([status, fee]).toEqual(["completed", quote.fees.network]);
  expect([...market.bids.values()]).toEqual([20_000n]);
  await service.stop();
  await ledger.close();
});

test("N6: a refresh keeps the version", async ({ world }) => {
  const caller = await world.caller();
  const [alice, bob] = [world.wallet("alice", RICH), world.wallet("bob", { lamports: 1_000_000n })];
  const { quote } = await quoted(world, caller, { from: alice, to: [bob], asset: "SOL" });
  const { body } = await world.service.refreshQuote(caller, quote.quoteId);
  expect(Buffer.from(body.transaction ?? "", "base64")[0]).toBe(0x81);
  expect(await world.service.quote(caller, quote.quoteId)).toMatchObject({ transactionVersion: 1 });
});

test("N6: what a wallet has put together itself is followed to its end, also where its sender signs the same message again", async ({
  world,
}) => {
  const caller = await world.caller();
  const [alice, bob] = [world.wallet("alice", RICH), world.wallet("bob", { lamports: 1_000_000n })];
  const amount = "0.002";
  const recipients = [{ address: bob.address, amount }];
  const asked = { inputAsset: "SOL", outputAsset: "SOL", amount, sender: alice.address, recipients };
  for (const broadcast of ["own", "other"] as const) {
    const { body: quote } = await world.service.createQuote(caller, asked);
    const pay = SystemProgram.transfer({
      fromPubkey: keyOf(alice),
      toPubkey: keyOf(bob),
      lamports: 2_000_000,
    });
    const signing = { signers: [alice], instructions: [pay] };
    const signedTransaction = await signedVersion1(world, signing);
    const request = { type: "send", quoteId: quote.quoteId, sender: alice.address, recipients } as const;
    const again = signAgain(signedTransaction, alice.secretKey);
    const lift = world.chain.faults.add(({ method, params }) =>
      broadcast === "other" && method === "sendTransaction" && params[0] === signedTransaction
        ? { kind: "drop" }
        : undefined,
    );
    const { body } = await world.service.createTransaction(caller, { ...request, signedTransaction });
    await world.service.settled();
    if (broadcast === "other") await world.ledger.broadcast(Buffer.from(again, "base64"));
    await world.finalize();
    // Only now is its own signature known to be past landing.
    if (broadcast === "other") world.chain.advance(200);
    await world.finalize();
    const landed = await world.service.transaction(caller, body.transactionId);
    expect(landed, broadcast).toMatchObject({ status: "completed", fee: "0.000005" });
    lift();
  }
});

test("N6: a wallet that makes its own pays more than a quote builds for, while the payees have accounts", async ({
  world,
}) => {
  const caller = await world.caller();
  const alice = world.wallet("alice", RICH);
  const mint = new PublicKey(world.mints.USDC);
  const count = 27;
  const to = Array.from({ length: count }, (_, index) => world.wallet(`payee ${index}`, { usdc: 1n }));
  const pair = { inputAsset: "USDC", outputAsset: "USDC", amount: "0.27", sender: alice.address };
  const { body: quote } = await world.service.createQuote(caller, pair);
  const account = (owner: Wallet): PublicKey => new PublicKey(world.tokenAccountOf(owner, "USDC"));
  const instructions = to.flatMap((owner) => [
    createAssociatedTokenAccountIdempotentInstruction(keyOf(alice), account(owner), keyOf(owner), mint),
    createTransferCheckedInstruction(account(alice), mint, account(owner), keyOf(alice), 10_000n, 6),
  ]);
  const recipients = to.map(({ address }) => ({ address, amount: "0.01" }));
  const { body } = await world.service.createTransaction(caller, {
    type: "payroll",
    quoteId: quote.quoteId,
    sender: alice.address,
    recipients,
    signedTransaction: await signedVersion1(world, { signers: [alice], instructions }),
  });
  await world.finalize();
  const landed = await world.service.transaction(caller, body.transactionId);
  expect(landed.status).toBe("completed");
  expect(landed.recipients.filter(({ status }) => status === "paid")).toHaveLength(count);
});

test("N6: where the chain has not switched version 1 on, a quote for it is refused, and so is what a wallet signs; where that is unknown they can be asked for again", async ({
  world,
}) => {
  const caller = await world.caller();
  const [alice, bob] = [world.wallet("alice", RICH), world.wallet("bob", { lamports: 1_000_000n })];
  const payroll = { from: alice, to: [bob], asset: "SOL" } as const;
  const { quote, recipients } = await quoted(world, caller, payroll);
  const signedTransaction = world.sign(quote.transaction ?? "", alice);
  const order = { quoteId: quote.quoteId, sender: alice.address, recipients, signedTransaction };
  expect((await world.service.health()).takesVersion1).toBe(true);
  const old = world.ledgerOf([{ url: "http://old", fetch: withoutVersion1(world.chain.fetch) }]);
  const told: unknown[] = [];
  const logger = { ...silentLogger, info: (facts: object) => void told.push(facts) };
  const service = world.another({ ledger: { ...old, time: async () => null }, logger });
  await service.start();
  expect((await service.health()).takesVersion1).toBe(false);
  expect(told).toContainEqual({ takesVersion1: false });
  const { details } = await refusal(quoted({ ...world, service }, caller, payroll));
  const message = "the chain does not take transactions of version 1";
  expect(details).toEqual({ fields: [{ path: "transactionVersion", message }] });
  const refused = await refusal(service.createTransaction(caller, { type: "send", ...order }));
  expect(refused).toMatchObject({ code: "INVALID_SIGNATURE", details: { reason: "unsupported_version" } });
  await service.stop();
  await old.close();

  const two = [world.chain.fetch, withoutVersion1(world.chain.fetch)];
  const torn = world.ledgerOf(two.map((fetch, index) => ({ url: `http://node${index}`, fetch })));
  const unsure = world.another({ ledger: { ...torn, time: async () => null } });
  await unsure.start();
  expect((await unsure.health()).takesVersion1).toBeNull();
  // Over HTTP an UPSTREAM_ERROR.
  await expect(quoted({ ...world, service: unsure }, caller, payroll)).rejects.toThrow(LedgerUnavailable);
  await unsure.stop();
  await torn.close();
  await world.service.createTransaction(caller, { type: "send", ...order });
});

test("N6: version 1 is asked for of sends and payrolls in wallet mode only", async ({ world }) => {
  const caller = await world.caller();
  const send = { inputAsset: "SOL", outputAsset: "SOL", amount: "1", transactionVersion: 1 } as const;
  for (const wrong of [
    { ...send, mode: "private" as const },
    { ...send, outputAsset: "USDC" },
  ]) {
    const { details } = await refusal(world.service.createQuote(caller, wrong));
    const message = "only of a send or a payroll in wallet mode";
    expect(details).toEqual({ fields: [{ path: "transactionVersion", message }] });
  }
});

/** A node of a chain that has the feature not, or not yet: its account is not there. */
function withoutVersion1(fetch: LocalChain["fetch"]): LocalChain["fetch"] {
  return async (url, init) => {
    const asked = JSON.parse(init?.body as string) as { readonly params?: readonly [unknown] };
    const answer = await fetch(url, init);
    const [addresses] = asked.params ?? [];
    const at = Array.isArray(addresses) ? addresses.indexOf(FEATURE) : -1;
    if (at < 0) return answer;
    const told = (await answer.json()) as { readonly result: { readonly value: unknown[] } };
    told.result.value[at] = null;
    return Response.json(told);
  };
}

const FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";
