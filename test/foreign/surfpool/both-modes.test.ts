/** N13: both modes on a Solana node that nobody here wrote, over its JSON-RPC and by the machine's clock. */
// modules: private
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPaymentService, type PaymentService } from "../../../src/index.ts";
import { SOL_MINT } from "../../../src/core/address.ts";
import { fixedPrices } from "../../../src/payments/frame/prices/prices.ts";
import { transferId } from "../../../src/payments/private/plan-transfer.ts";
import { solanaLedger } from "../../../src/solana/index.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { FeeMarket } from "../../kit/fee-market.ts";
import { NodeProxy } from "../../kit/node-proxy.ts";
import { SCOPES } from "../../../src/payments/frame/accounts/caller.ts";
import { units } from "../../kit/money.ts";
import { signPayment } from "../../kit/chain-fixture.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { bytesOfVersion1 } from "../../kit/version-1.ts";
import { wayToSurfpool } from "./lagging-node.ts";
import { HAS_SURFPOOL, surfnet, type SurfnetWallet, type SurfnetWorld } from "./surfnet.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";

const SOL = 1_000_000_000n;
/** What no block takes. */
const HOPELESS = 10n ** 9n;
const WITHIN = { interval: 100 };

// Where there is no addon for a machine the run tells these tests as skipped.
describe.skipIf(!HAS_SURFPOOL)("N13: on surfpool", () => {
  let node: SurfnetWorld;
  let market: FeeMarket;
  let proxy: NodeProxy;
  let service: PaymentService;
  let storage: PaymentStorage;
  let caller: Awaited<ReturnType<typeof customer>>;
  let alice: SurfnetWallet;
  let bob: SurfnetWallet;

  async function customer() {
    const { accountId } = await service.createAccount({ name: "test", tier: "enterprise" });
    return { accountId, tier: "enterprise", scopes: SCOPES } as const;
  }

  beforeAll(async () => {
    storage = await memoryStorage();
    node = await surfnet();
    market = new FeeMarket();
    proxy = new NodeProxy((own) => (own === undefined ? fetch : wayToSurfpool(own)), market.rule);
    alice = await node.wallet({ lamports: 10n * SOL, usdc: 1_000_000_000n });
    bob = await node.wallet({ lamports: SOL });
    const sponsor = await node.wallet({ lamports: 1_000n * SOL });
    const treasury = await node.wallet({ lamports: SOL });
    const { USDC, USDT } = node.mints;
    service = createPaymentService({
      storage,
      ledger: solanaLedger({
        endpoints: [{ url: node.rpcUrl, fetch: proxy.fetch }],
        logger: silentLogger,
      }),
      masterSecrets: [TEST_MASTER_SECRET],
      stablecoins: node.mints,
      ledgerPollMs: 200,
      logger: silentLogger,
      privateRouting: {
        sponsor,
        treasury: treasury.address,
        prices: fixedPrices({ [SOL_MINT]: SOL, [USDC]: 150_000_000n, [USDT]: 150_000_000n }),
      },
    });
    await service.start();
    caller = await customer();
  });

  afterAll(async () => {
    await service.stop();
    node.close();
  });

  const statusOf = async (id: string): Promise<string> => (await service.transaction(caller, id)).status;

  async function privateOrder(
    recipients: { address: string; amount: string }[],
    asset: "SOL" | "USDC" = "USDC",
  ) {
    const amount = String(recipients.reduce((sum, each) => sum + Number(each.amount), 0));
    const order = { inputAsset: asset, outputAsset: asset, amount, mode: "private", recipients } as const;
    const { body: quote } = await service.createQuote(caller, order);
    const { body } = await service.createTransaction(caller, {
      type: recipients.length === 1 ? "send" : "payroll",
      mode: "private",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients,
    });
    if (!("ephemeralAddress" in body)) throw new Error("a private order has a deposit address");
    return body;
  }

  /** Quotes, signs and posts a payment of the wallet's, and returns it with its quote. */
  async function walletPayment(
    asset: "SOL" | "USDC",
    recipients: { address: string; amount: string }[],
    version: { readonly transactionVersion?: 1 } = {},
  ) {
    const amount = String(recipients.reduce((sum, each) => sum + Number(each.amount), 0));
    const sender = alice.address;
    const inputs = { inputAsset: asset, outputAsset: asset, amount, sender, recipients, ...version };
    const { body: quote } = await service.createQuote(caller, inputs);
    const unsigned = Buffer.from(quote.transaction ?? "", "base64");
    expect(unsigned[0]).toBe("transactionVersion" in version ? 0x81 : 1);
    const { body } = await service.createTransaction(caller, {
      type: recipients.length === 1 ? "send" : "payroll",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients,
      signedTransaction: signPayment(unsigned, alice.secretKey),
    });
    return { id: body.transactionId, quote };
  }

  test.for([
    ["SOL", "a legacy transaction", {}],
    ["USDC", "a legacy transaction", {}],
    ["SOL", "a transaction of version 1", { transactionVersion: 1 }],
    ["USDC", "a transaction of version 1", { transactionVersion: 1 }],
  ] as const)("a wallet sends %s in %s, and pays the fee that was quoted", async ([asset, , version]) => {
    const { id, quote } = await walletPayment(asset, [{ address: bob.address, amount: "0.5" }], version);
    await expect.poll(() => statusOf(id), WITHIN).toBe("completed");
    expect(units(quote.fees.network, 9)).toBeGreaterThan(5_000n);
  });

  test("N15: one payee of six closes its token account between the simulation and the landing: all are paid, by the bytes that the wallet signed", async () => {
    const payees = await Promise.all([1, 2, 3, 4, 5, 6].map(() => node.wallet({ usdc: 1n })));
    const [, , leaver] = payees;
    if (leaver === undefined) throw new Error("there are six");
    market.least = HOPELESS;
    market.bids.clear();
    const { id } = await walletPayment(
      "USDC",
      payees.map(({ address }) => ({ address, amount: "0.5" })),
    );
    await expect.poll(() => market.bids.size).toBeGreaterThan(0);
    await node.closeTokens(leaver.address);
    market.least = 0n;
    await expect.poll(() => statusOf(id), WITHIN).toBe("completed");
    for (const payee of payees) {
      expect(await node.usdcOf(payee.address)).toBe(payee === leaver ? 500_000n : 500_001n);
    }
  });

  test("N6: a wallet pays as many as a quote of version 1 takes, none of whom has a token account", async () => {
    const payees = await Promise.all(Array.from({ length: 8 }, () => node.wallet({})));
    const recipients = payees.map(({ address }) => ({ address, amount: "1.5" }));
    const { id } = await walletPayment("USDC", recipients, { transactionVersion: 1 });
    await expect.poll(() => statusOf(id), WITHIN).toBe("completed");
    for (const { address } of payees) expect(await node.usdcOf(address)).toBe(1_500_000n);
  });

  test("N6: a deposit in a transaction of version 1 is read, and the order is paid", async () => {
    const [carol, dave] = [await node.wallet({ lamports: 10n * SOL }), await node.wallet({ lamports: SOL })];
    const body = await privateOrder([{ address: dave.address, amount: "2" }], "SOL");
    const deposit = SystemProgram.transfer({
      fromPubkey: new PublicKey(carol.address),
      toPubkey: new PublicKey(body.ephemeralAddress),
      lamports: units(body.depositAmount, 9),
    });
    const blockhash = await node.blockhash();
    const bytes = bytesOfVersion1({ signers: [carol], instructions: [deposit], blockhash });
    const ledger = solanaLedger({ endpoints: [node.rpcUrl] });
    await ledger.broadcast(bytes);
    await expect.poll(() => statusOf(body.transactionId), WITHIN).toBe("completed");
    expect((await ledger.balances(dave.address)).lamports).toBe(3n * SOL);
    await ledger.close();
  });

  test("N1: in a market where every slot refuses less than 100,000 a unit a private send is paid at the third bid", async () => {
    market.least = 100_000n;
    market.bids.clear();
    const carol = await node.wallet({});
    const body = await privateOrder([{ address: carol.address, amount: "2" }]);
    await node.fundTokens(body.ephemeralAddress, units(body.depositAmount, 6));
    await expect.poll(() => statusOf(body.transactionId), { interval: 100 }).toBe("completed");
    expect(await node.usdcOf(carol.address)).toBe(2_000_000n);
    const chunk = transferId({ order: body.transactionId, kind: "chunk", n: 0 });
    const attempts = await storage.attemptsOf(chunk);
    const [first, second, third] = attempts.map(({ id }) => market.bids.get(id));
    expect(first).toBe(1_000n);
    expect(second).toBeGreaterThanOrEqual(4_000n);
    expect(third).toBeGreaterThanOrEqual(100_000n);
  });
});
