/** M11: what no account of the ledger can hold is never quoted, taken or reserved. */
import {
  AccountLayout,
  createInitializeAccount3Instruction,
  createMintToCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import fc from "fast-check";
import { expect } from "vitest";
import { formatAmount, MAX_AMOUNT } from "../../src/core/amount.ts";
import { isPaymentError } from "../../src/errors/errors.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import { refuseTooLarge, totalOf } from "../../src/payments/frame/assets/amount-errors.ts";
import type { QuoteRequest } from "../../src/payments/frame/requests.ts";
import { deskProvider } from "../../src/payments/swap/desk/desk-provider.ts";
import type { SwapProvider } from "../../src/payments/frame/exchange/swap-provider.ts";
import type { Signer } from "../../src/ledger/sign-transaction.ts";
import { memoryStorage } from "../kit/storages.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { MODES } from "../kit/modes.ts";
import type { PrivateFixture } from "../kit/private-fixture.ts";
import { units } from "../kit/money.ts";
import { recordStorage, type StorageLog } from "../kit/record-storage.ts";
import { land } from "../solana/signed-transaction.ts";
import { expectRefusal } from "./wallet/wallet-world.ts";
import { privateTest } from "../kit/private-test.ts";
import { swapTest } from "../kit/swap-test.ts";
import { runsOf } from "../kit/thorough.ts";

/** A world whose every commit is kept. */
interface Logged extends PrivateFixture {
  readonly customer: Caller;
  readonly log: StorageLog;
}

const test = privateTest.extend("world", async ({ open }): Promise<Logged> => {
  const log: StorageLog = { commits: [], claims: [] };
  const world = await open({ storage: recordStorage(await memoryStorage(), log, () => 0) });
  return { ...world, customer: await world.caller(), log };
});

const LARGEST = formatAmount(MAX_AMOUNT, 6);
const TOO_LARGE = { maximum: LARGEST };

/** What a service writes down of itself and of the chain, whenever it looks. */
const OF_ITSELF: ReadonlySet<string> = new Set(["paystateCharts", "facts", "matters"]);

/** Tables into which something of a customer's was inserted since the log had so many commits. */
function insertedSince(world: Logged, commits: number): string[] {
  const { log } = world;
  return log.commits
    .slice(commits)
    .flatMap(({ commit }) => commit.writes ?? [])
    .flatMap((write) => ("insert" in write ? [write.table] : []))
    .filter((table) => !OF_ITSELF.has(table));
}

const decimal = (amount: bigint): string => formatAmount(amount, 6);

const request = (amount: bigint, more: Partial<QuoteRequest> = {}): QuoteRequest => ({
  inputAsset: "USDC",
  outputAsset: "USDC",
  amount: decimal(amount),
  mode: "private",
  ...more,
});

const share = ({ address }: Wallet, amount: bigint): { address: string; amount: string } => ({
  address,
  amount: decimal(amount),
});

test("any list of amounts is refused exactly when its sum is more than 2^64 − 1", () => {
  const amount = fc.oneof(
    fc.bigInt({ min: 1n, max: MAX_AMOUNT }),
    fc.bigInt({ min: MAX_AMOUNT / 2n - 1n, max: MAX_AMOUNT / 2n + 1n }),
    fc.constant(1n),
  );
  fc.assert(
    fc.property(fc.array(amount, { maxLength: 4 }), fc.integer({ min: 0, max: 9 }), (amounts, decimals) => {
      const sum = totalOf(amounts.map((each) => ({ amount: each })));
      expect(sum).toBe(amounts.reduce((one, other) => one + other, 0n));
      let refused: unknown = null;
      try {
        refuseTooLarge(sum, { decimals });
      } catch (error) {
        refused = error;
      }
      expect(isPaymentError(refused, "AMOUNT_TOO_LARGE")).toBe(sum >= 2n ** 64n);
    }),
  );
});

// modules: private
test("M11: a private quote is given exactly when its amount and its fee together are at most 2^64 − 1", async ({
  world,
}) => {
  const { log } = world;
  const amounts = fc.oneof(
    fc.bigInt({ min: 1n, max: 2n ** 60n }).map((below) => MAX_AMOUNT - below),
    fc.bigInt({ min: 0n, max: 2_000_000n }).map((below) => MAX_AMOUNT - below),
  );
  await fc.assert(
    fc.asyncProperty(amounts, async (amount) => {
      const commits = log.commits.length;
      const asked = await world.service.createQuote(world.customer, request(amount)).then(
        ({ body }) => units(body.inputAmount, 6),
        (error: unknown) => {
          if (isPaymentError(error, "AMOUNT_TOO_LARGE")) return null;
          throw error;
        },
      );
      // 0.3 % of the amount, rounded up, and at least one base unit for the network.
      const least = amount + (amount * 30n + 9_999n) / 10_000n + 1n;
      expect(insertedSince(world, commits)).toEqual(asked === null ? [] : ["quotes"]);
      expect(asked === null || (asked >= least && asked <= MAX_AMOUNT)).toBe(true);
      expect(asked !== null && least > MAX_AMOUNT).toBe(false);
    }),
    { numRuns: runsOf(40) },
  );
});

// modules: private
test("M11: the bound is exact: the largest amount that still has room for its fee is quoted, one unit more is not", async ({
  world,
}) => {
  const fits = async (amount: bigint): Promise<boolean> =>
    world.service.createQuote(world.customer, request(amount)).then(
      () => true,
      (error: unknown) => {
        if (isPaymentError(error, "AMOUNT_TOO_LARGE")) return false;
        throw error;
      },
    );
  let [low, high] = [MAX_AMOUNT / 2n, MAX_AMOUNT];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (await fits(middle)) low = middle;
    else high = middle;
  }
  const { body } = await world.service.createQuote(world.customer, request(low));
  const room = MAX_AMOUNT - units(body.inputAmount, 6);
  // One unit more of the amount is one or two more in all.
  expect(room).toBeGreaterThanOrEqual(0n);
  expect(room).toBeLessThan(2n);
});

test.for(MODES)(
  "M11: a payroll (%s) whose shares add up to more than 2^64 − 1 is neither quoted nor taken",
  async (mode, { world }) => {
    const { log } = world;
    const [alice, bob, carol] = ["alice", "bob", "carol"].map((name) =>
      world.wallet(name, { lamports: 1_000_000_000n }),
    );
    if (alice === undefined || bob === undefined || carol === undefined) throw new Error("three wallets");
    const recipients = [share(bob, MAX_AMOUNT), share(carol, 1n)];
    const quoted = request(MAX_AMOUNT, { mode, sender: alice.address, recipients });
    let commits = log.commits.length;
    await expectRefusal(world.service.createQuote(world.customer, quoted), "AMOUNT_TOO_LARGE", TOO_LARGE);
    expect(insertedSince(world, commits)).toEqual([]);

    const { body: quote } = await world.service.createQuote(world.customer, request(2_000_000n, { mode }));
    commits = log.commits.length;
    const order = {
      ...({ type: "payroll", quoteId: quote.quoteId, mode, sender: alice.address, recipients } as const),
      ...(mode === "wallet" ? { signedTransaction: "AA==" } : {}),
    };
    await expectRefusal(
      world.service.createTransaction(world.customer, order),
      "AMOUNT_TOO_LARGE",
      TOO_LARGE,
    );
    expect(insertedSince(world, commits)).toEqual([]);
  },
);

test.for(MODES)(
  "E13: a single amount (%s) of 2^64 base units is no amount at all, of the whole and of a share",
  async (mode, { world }) => {
    const bob = world.wallet("bob");
    const fields = (path: string): object => ({
      fields: [{ path, message: "is more than the ledger can hold" }],
    });
    const quote = (more: Partial<QuoteRequest>): Promise<unknown> =>
      world.service.createQuote(world.customer, request(MAX_AMOUNT, { mode, ...more }));
    await expectRefusal(quote({ amount: decimal(2n ** 64n) }), "VALIDATION_ERROR", fields("amount"));
    await expectRefusal(
      quote({ recipients: [share(bob, 2n ** 64n)] }),
      "VALIDATION_ERROR",
      fields("recipients.0.amount"),
    );
  },
);

/** A desk whose offers are as they should be, until they are of one unit more than the ledger can hold. */
class GenerousDesk {
  isGenerous = false;
  readonly provider = (signer: Signer): SwapProvider => ({
    name: "generous",
    connect: (surroundings) => {
      const desk = deskProvider({ desk: signer }).connect(surroundings);
      const offer: typeof desk.offer = async (...asked) => ({
        ...(await desk.offer(...asked)),
        ...(this.isGenerous ? { outputAmount: MAX_AMOUNT + 1n } : {}),
      });
      return { ...desk, offer };
    },
  });
}

swapTest.for(MODES)(
  "M11: a swap (%s) that would give more than 2^64 − 1 is not quoted",
  async (mode, { open }) => {
    const desk = new GenerousDesk();
    const swaps = await open({ provider: desk.provider });
    const customer = await swaps.caller();
    const alice = swaps.wallet("alice", { lamports: 10_000_000_000n });
    const quoting = (): Promise<{ body: { quoteId: string } }> =>
      swaps.service.createQuote(customer, {
        inputAsset: "SOL",
        outputAsset: "USDC",
        amount: "1",
        mode,
        sender: alice.address,
      });
    const { body: quote } = await quoting();
    desk.isGenerous = true;
    await expectRefusal(quoting(), "AMOUNT_TOO_LARGE", TOO_LARGE);
    await expectRefusal(swaps.service.refreshQuote(customer, quote.quoteId), "AMOUNT_TOO_LARGE", TOO_LARGE);
  },
);

// modules: private
swapTest(
  "M11: a private swap whose price has become more than 2^64 − 1 by its deposit is refunded",
  async ({ open }) => {
    const desk = new GenerousDesk();
    const swaps = await open({ provider: desk.provider });
    const customer = await swaps.caller();
    const alice = swaps.wallet("alice", { lamports: 10_000_000_000n });
    const { body } = await swaps.orderSwap(customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
    });
    desk.isGenerous = true;
    await swaps.deposit(body.ephemeralAddress, { lamports: 1_000_000_000n });
    await swaps.settle(4);
    await swaps.pass(11 * 60_000);
    await swaps.settle(8);
    expect(await swaps.service.transaction(customer, body.transactionId)).toMatchObject({
      status: "failed",
      reason: "LIQUIDITY_UNAVAILABLE",
      refunds: [{ asset: "SOL", status: "paid" }],
    });
  },
);

test("M11: a deposit beyond 2^64 − 1 cannot come about: the token program refuses more of a mint than that", async ({
  world,
}) => {
  const { chain, mints } = world;
  const mint = new PublicKey(mints.USDC);
  const issuer = new PublicKey(chain.faucet.address);
  const bob = world.wallet("bob");
  const [first, second] = [Keypair.generate(), Keypair.generate()];
  await land(world, {
    signers: [chain.faucet, first, second],
    instructions: [first, second].flatMap(({ publicKey }) => [
      SystemProgram.createAccount({
        fromPubkey: issuer,
        newAccountPubkey: publicKey,
        lamports: 3_000_000,
        space: AccountLayout.span,
        programId: TOKEN_PROGRAM_ID,
      }),
      createInitializeAccount3Instruction(publicKey, mint, new PublicKey(bob.address)),
    ]),
  });
  const minting = (account: Keypair, amount: bigint): Promise<string> =>
    land(world, {
      signers: [chain.faucet],
      instructions: [createMintToCheckedInstruction(mint, account.publicKey, issuer, amount, 6)],
    });
  await minting(first, MAX_AMOUNT / 2n);
  await expect(minting(second, MAX_AMOUNT / 2n + 2n)).rejects.toThrow(/Custom.*14/);
});
