/** N13: what an order signs, on a Solana node that nobody here wrote: the lock, the loan, rests, redirects, culprits. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import type { WalletTold } from "../../../src/ledger/order-reading.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import type { LedgerWorld, WorldWallet } from "../../contracts/ledger.ts";
import { buy, faultOf } from "../../contracts/ledger/order-cases.ts";
import { coin, planOf, units } from "../../contracts/ledger/plans.ts";
import { surfpoolWorld } from "./ledger-world.ts";
import { HAS_SURFPOOL } from "./surfpool-node.ts";

const SOL = 1_000_000_000n;
const TOKENS = 1_000_000n;
const FEE = 10_000n;
const ACCOUNT = 2_039_280n;

type Funds = Parameters<LedgerWorld["wallet"]>[0];

// Where there is no addon for a machine the run tells these tests as skipped.
describe.skipIf(!HAS_SURFPOOL)("N13: orders on surfpool", () => {
  let world: LedgerWorld;
  let sponsor: WorldWallet;
  let rent: bigint;
  beforeAll(async () => {
    world = await surfpoolWorld();
    sponsor = await world.wallet({ native: 900n * SOL, tokens: 1n });
    rent = await world.wait(world.ledger.rentMinimum(0));
  });
  afterAll(() => world.destroy());

  /** What became of these moves, which the order and others sign beside the sponsor. */
  const carry = (moves: readonly Move[], ...signers: readonly WorldWallet[]): Promise<OrderFault | null> =>
    faultOf(world, planOf({ sponsor }, ...moves), sponsor, ...signers);
  const must = async (moves: readonly Move[], ...signers: readonly WorldWallet[]): Promise<void> => {
    expect(await carry(moves, ...signers)).toBeNull();
  };
  const mark = (order: WorldWallet, seed: string, length = 0): Promise<Move> =>
    buy(world, { sponsor, payer: order }, { seed, length });
  const refused = async (funds: Funds): Promise<WorldWallet> => {
    const order = await world.wallet(funds);
    await must([await mark(order, "0", 1)], order);
    return order;
  };
  const close = ({ address }: WorldWallet): Move => ({
    does: "close",
    mint: world.token.mint,
    owner: address,
    to: address,
  });
  const empty = ({ address }: WorldWallet): Move => ({ does: "empty", address, payer: sponsor.address });
  const lend = (order: WorldWallet): Move => coin(sponsor, order.address, 2n * rent);
  const pay = (from: WorldWallet, to: Address, amount: bigint, payer: Address | null = null): Move =>
    units(world, from, to, amount, payer);
  const held = async ({ address }: Pick<WorldWallet, "address">): Promise<WalletTold | undefined> => {
    const query = { address, mints: [world.token.mint], owners: [], seeds: [] };
    return (await world.wait(world.ledger.readOrder(query, "finalized"))).told[0]?.order;
  };
  const nothing: WalletTold = { lamports: 0n, accounts: [null] };
  const nobody = async (): Promise<Address> => (await world.wallet({})).address;

  test("K1, K8: the first marker decides, whatever its length; with length 2 later chunks pay", async () => {
    const order = await world.wallet({ tokens: 5n * TOKENS });
    const payee = await world.wallet({ tokens: 1n });
    await must([await mark(order, "0", 2)], order);
    const again = [await mark(order, "0", 1), pay(order, payee.address, TOKENS)];
    for (const moves of [again, again.slice(0, 1)]) {
      expect(await carry(moves, order)).toMatchObject({ at: { step: "allocate" }, error: { custom: 0 } });
    }
    await must([await mark(order, "1"), pay(order, payee.address, 2n * TOKENS, sponsor.address)], order);
  });

  test("K2, C4: one lamport and half of the rent are refused by the chain at the marker's own index", async () => {
    const order = await world.wallet({ tokens: 5n * TOKENS });
    for (const lamports of [1n, rent / 2n]) {
      const marker = { ...(await mark(order, "0")), lamports } as Move;
      const account = world.ledger.markerOf(order.address, "0");
      expect(await carry([marker], order)).toMatchObject({ account, error: "rent" });
    }
  });

  test("the loan stands last: an exact payout ends with it, and it pays nobody", async () => {
    const [order, payee] = [await world.wallet({ native: 5n * SOL }), await world.wallet({ native: SOL })];
    const chunk = async (amount: bigint): Promise<readonly Move[]> => [
      await mark(order, "0"),
      coin(order, payee.address, amount),
      lend(order),
    ];
    const short = await carry(await chunk(5n * SOL + 1n), order);
    expect(short).toMatchObject({ at: { move: 1, step: "pay" }, error: { custom: 1 } });
    await must(await chunk(5n * SOL), order);
    expect(await held(order)).toEqual({ lamports: 2n * rent, accounts: [null] });
    await must([coin(order, sponsor.address, 2n * rent), empty(order)], order);
    expect(await held(order)).toEqual(nothing);
  });

  test("a go of length 2 lends, and chunk 1 pays all that is there", async () => {
    const [order, payee] = [await world.wallet({ native: 9_000_000n }), await world.wallet({ native: SOL })];
    await must([await mark(order, "0", 2), lend(order)], order);
    await must([await mark(order, "1"), coin(order, payee.address, 9_000_000n)], order);
    expect((await held(order))?.lamports).toBe(2n * rent);
  });

  test("C37: a swap whose payee closed his account is not paid of the loan", async () => {
    const order = await world.wallet({ native: SOL + ACCOUNT - rent });
    const desk = await world.wallet({ native: SOL, tokens: 500n * TOKENS });
    const moves = [
      await mark(order, "0"),
      coin(order, desk.address, SOL),
      pay(desk, await nobody(), 150n * TOKENS, order.address),
      lend(order),
    ];
    expect(await carry(moves, order, desk)).toMatchObject({
      at: { move: 2, step: "create" },
      error: { custom: 1 },
    });
  });

  test("K13: a rest of tokens closes to the order, gives the rent back and all above it to the sender", async () => {
    const order = await refused({ tokens: 3n * TOKENS });
    const sender = await world.wallet({ native: 9_000_000n });
    const account = world.ledger.tokenAccountOf(order.address, world.token.mint);
    await must([coin(sponsor, account, SOL / 2n)]);
    await must(
      [
        pay(order, sender.address, 3n * TOKENS, sponsor.address),
        close(order),
        coin(order, sender.address, SOL / 2n),
        coin(order, sponsor.address, ACCOUNT),
        empty(order),
      ],
      order,
    );
    expect(await held(order)).toEqual(nothing);
    expect((await held(sender))?.lamports).toBe(9_000_000n + SOL / 2n);
  });

  test("K13: dust refuses a rest of SOL whole; bare leaves what an account must hold, and the remainder asserts", async () => {
    const order = await refused({ native: 5n * SOL });
    const sender = await world.wallet({ native: 9_000_000n });
    await must([coin(sponsor, order.address, 1n)]);
    const rest = (amount: bigint): readonly Move[] => [
      coin(order, sender.address, amount - FEE),
      coin(order, sponsor.address, FEE),
      empty(order),
    ];
    expect(await carry(rest(5n * SOL), order)).toMatchObject({ at: { step: "empty" }, error: { custom: 0 } });
    const all = await carry([coin(order, sender.address, 5n * SOL)], order);
    expect(all).toMatchObject({ account: order.address, error: "rent" });
    await must([coin(order, sender.address, 5n * SOL - rent)], order);
    await must(rest(rent + 1n), order);
    expect(await held(order)).toEqual(nothing);
  });

  test("C27: bare that takes all above the loan does not let the creation of an account spend the loan", async () => {
    const order = await refused({ native: 2n * rent + ACCOUNT, tokens: 5n * TOKENS });
    const sender = await world.wallet({ native: 9_000_000n });
    const tokens = pay(order, sender.address, 5n * TOKENS, order.address);
    const above = coin(order, sender.address, ACCOUNT);
    expect(await carry([tokens, above], order)).toMatchObject({ at: { move: 1 }, error: { custom: 1 } });
    const moves = [
      pay(order, sender.address, 4n * TOKENS, sponsor.address),
      pay(order, sponsor.address, TOKENS),
      above,
    ];
    await must(moves, order);
    expect((await held(order))?.lamports).toBe(2n * rent);
  });

  test("C26: a sender without SOL cannot be given a lamport: his own index; the sponsor can", async () => {
    const order = await refused({ tokens: 5n });
    const [sender, account] = [await nobody(), world.ledger.tokenAccountOf(order.address, world.token.mint)];
    await must([coin(sponsor, account, 1n)]);
    const dust = pay(order, sponsor.address, 5n);
    const rest = (...coins: readonly Move[]): readonly Move[] => [dust, close(order), ...coins, empty(order)];
    const toSender = rest(coin(order, sender, 1n), coin(order, sponsor.address, ACCOUNT));
    expect(await carry(toSender, order)).toMatchObject({ at: null, account: sender, error: "rent" });
    await must(rest(coin(order, sponsor.address, ACCOUNT + 1n)), order);
    expect(await held(order)).toEqual(nothing);
  });

  test("K12, C11: a redirect pays what was approved once, whatever lies there", async () => {
    const order = await refused({ tokens: 16n * TOKENS });
    const other = await world.wallet({ tokens: 1n });
    const act = async (): Promise<readonly Move[]> => [
      await mark(order, "r0"),
      pay(order, other.address, 8n * TOKENS, sponsor.address),
    ];
    await must(await act(), order);
    expect(await carry(await act(), order)).toMatchObject({ at: { move: 0, step: "allocate" } });
  });

  test("C36: thirteen recipients that do not exist are paid the rent of an empty account", async () => {
    const order = await world.wallet({ native: SOL });
    const payees: Move[] = [];
    for (let count = 0; count < 13; count += 1) payees.push(coin(order, await nobody(), rent));
    await must([await mark(order, "1"), ...payees], order);
    expect((await held(order))?.lamports).toBe(SOL - 13n * rent);
  });

  test("culprits: a frozen payee, an unpriced one without an account with and without lamports of the order's, a frozen treasury", async () => {
    const order = await world.wallet({ tokens: 5n * TOKENS });
    const frozen = await world.wallet({ tokens: 1n });
    await world.freeze(world.ledger.tokenAccountOf(frozen.address, world.token.mint));
    const [there, missing] = [await world.wallet({ tokens: 1n }), await nobody()];
    const told = async (...legs: readonly Move[]) => await carry([await mark(order, "0"), ...legs], order);
    const first = pay(order, there.address, 1n, sponsor.address);
    expect(await told(first, pay(order, frozen.address, 1n, sponsor.address))).toMatchObject({
      at: { move: 2, step: "pay" },
      error: { custom: 17 },
    });
    expect(await told(first, pay(order, missing, 1n))).toMatchObject({
      at: { move: 2 },
      error: "missing_account",
    });
    const unpriced = pay(order, missing, 1n, order.address);
    expect(await told(first, unpriced)).toMatchObject({
      at: { move: 2, step: "create" },
      error: { custom: 1 },
    });
    await must([coin(sponsor, order.address, ACCOUNT + 400_000n)]);
    expect(await told(first, unpriced)).toMatchObject({ at: null, account: order.address, error: "rent" });
  });

  test("C28: a thief with the order's key buys its marker, and is told by whom it paid", async () => {
    const order = await world.wallet({ tokens: 5n * TOKENS });
    const thief = await world.wallet({ native: SOL, tokens: 1n });
    const forged = { ...(await mark(order, "0")), payer: thief.address } as Move;
    await must([forged, pay(order, thief.address, 5n * TOKENS)], order, thief);
    const { ledger, token, wait } = world;
    const rentPerByte = rent / 128n;
    const query = { address: order.address, mints: [token.mint], seeds: ["0"], rentPerByte };
    const { changes } = await wait(ledger.changesOfOrder(query, 0));
    const own = changes.filter(({ isOwn }) => isOwn);
    expect(own.map(({ markers }) => markers)).toEqual([[ledger.markerOf(order.address, "0")]]);
    expect(own[0]?.received).toContainEqual({ owner: thief.address, mint: token.mint, amount: 5n * TOKENS });
  });
});
