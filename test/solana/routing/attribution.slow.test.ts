/** Who did it: whose money came to an address, and how much of it. */
import {
  AccountLayout,
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Inflow } from "../../../src/ledger/routing.ts";
import { flood } from "../../kit/flood.ts";
import { land, signed } from "../signed-transaction.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { routingTest as test } from "./routing-test.ts";

const SOL = 1_000_000_000n;
/** Reads all that is listed. */
const EVERYTHING = { accounts: [], isExplained: () => false };
/** More than a token account needs. */
const TOKEN_ACCOUNT_RENT = 3_000_000;

/** What of an owner's inflows is of this mint, without signatures, in the order of their amounts. */
async function inflowsOf(
  world: RoutingFixture,
  owner: Address,
  mint: Address | null,
  accounts: readonly Address[] = [],
): Promise<readonly Omit<Inflow, "signature">[]> {
  const { inflows, isWhole } = await world.ledger.payersOf(owner, [world.mints.USDC], {
    ...EVERYTHING,
    accounts,
  });
  expect(isWhole).toBe(true);
  return inflows
    .filter((each) => each.mint === mint)
    .toSorted((a, b) => Number(a.amount - b.amount))
    .map(({ signature: _, ...rest }) => rest);
}

const keyOf = ({ address }: { readonly address: string }): PublicKey => new PublicKey(address);

/** Instructions that open a token account for USDC at a new key, with more lamports than its rent if that is wanted. */
function opening(
  world: RoutingFixture,
  account: Keypair,
  owner: Party,
  payer: Party,
  extra = 0,
): TransactionInstruction[] {
  return [
    SystemProgram.createAccount({
      fromPubkey: keyOf(payer),
      newAccountPubkey: account.publicKey,
      lamports: TOKEN_ACCOUNT_RENT + extra,
      space: AccountLayout.span,
      programId: TOKEN_PROGRAM_ID,
    }),
    createInitializeAccount3Instruction(account.publicKey, new PublicKey(world.mints.USDC), keyOf(owner)),
  ];
}

function paying(
  world: RoutingFixture,
  from: Party,
  source: PublicKey,
  target: PublicKey,
  amount: bigint,
): TransactionInstruction {
  const mint = new PublicKey(world.mints.USDC);
  return createTransferCheckedInstruction(source, mint, target, keyOf(from), amount, 6);
}

test("how much came from whom is told by what each transaction took from whom, and who paid for it", async ({
  world,
}) => {
  const { mints, party, ata } = world;
  const carol = party({ lamports: SOL, usdc: 50n });
  const dave = party({ lamports: SOL });
  const relay = party({ lamports: SOL });
  const target = party({ usdc: 1n });
  await land(world, {
    signers: [relay, carol],
    instructions: [paying(world, carol, ata(carol.address), ata(target.address), 20n)],
  });
  const toPubkey = keyOf(target);
  await land(world, {
    signers: [dave],
    instructions: [SystemProgram.transfer({ fromPubkey: keyOf(dave), toPubkey, lamports: Number(SOL / 2n) })],
  });
  expect(await inflowsOf(world, target.address, mints.USDC)).toEqual([
    // The faucet made the first unit out of nothing.
    {
      mint: mints.USDC,
      amount: 1n,
      from: [],
      unattributed: 1n,
      feePayer: world.chain.faucet.address,
    },
    {
      mint: mints.USDC,
      amount: 20n,
      unattributed: 0n,
      feePayer: relay.address,
      from: [{ payer: carol.address, amount: 20n }],
    },
  ]);
  expect(await inflowsOf(world, target.address, null)).toEqual([
    {
      mint: null,
      amount: SOL / 2n,
      unattributed: 0n,
      feePayer: dave.address,
      from: [{ payer: dave.address, amount: SOL / 2n }],
    },
  ]);
});

test("a transaction that failed on the chain moved nothing: it has no payers, and is not even asked for", async ({
  world,
}) => {
  const { chain, ledger, party } = world;
  const dave = party({ lamports: SOL });
  const target = party({ lamports: SOL });
  const toPubkey = keyOf(target);
  const lamports = Number(SOL) * 5;
  const bytes = await signed(world, {
    signers: [dave],
    instructions: [SystemProgram.transfer({ fromPubkey: keyOf(dave), toPubkey, lamports })],
  });
  await ledger.broadcast(Buffer.from(bytes, "base64"));
  chain.advance(35);
  const asked: unknown[] = [];
  chain.faults.add(({ method, params }) => {
    if (method === "getTransaction") asked.push(params[0]);
    return undefined;
  });
  const inflows = await inflowsOf(world, target.address, null);
  expect(inflows.map(({ feePayer }) => feePayer)).toEqual([chain.faucet.address]);
  expect(asked).toHaveLength(1);
});

test("M8: tokens in an account that is not the associated one are attributed to who brought them there", async ({
  world,
}) => {
  const { mints, party, ata } = world;
  const carol = party({ lamports: SOL, usdc: 50n });
  const target = party();
  const stray = Keypair.generate();
  await land(world, {
    signers: [carol, stray],
    instructions: [
      ...opening(world, stray, target, carol),
      paying(world, carol, ata(carol.address), stray.publicKey, 20n),
    ],
  });
  // Not named, and not paid out of by its owner: nobody looks there, and the sum of the attribution shows it.
  expect(await inflowsOf(world, target.address, mints.USDC)).toEqual([]);
  const brought = [{ payer: carol.address, amount: 20n }];
  const account = stray.publicKey.toBase58() as Address;
  expect(await inflowsOf(world, target.address, mints.USDC, [account])).toMatchObject([
    { amount: 20n, from: brought, unattributed: 0n },
  ]);
});

test("M8: what the owner collected from an account is attributed by that account's history, though it is gone", async ({
  world,
}) => {
  const { mints, party, ata, sponsor } = world;
  const carol = party({ lamports: SOL, usdc: 50n });
  const target = party({ lamports: SOL });
  const stray = Keypair.generate();
  await land(world, {
    signers: [carol, stray],
    instructions: [
      ...opening(world, stray, target, carol),
      paying(world, carol, ata(carol.address), stray.publicKey, 20n),
    ],
  });
  await land(world, {
    signers: [sponsor, target],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(
        keyOf(sponsor),
        ata(target.address),
        keyOf(target),
        new PublicKey(mints.USDC),
      ),
      paying(world, target, stray.publicKey, ata(target.address), 20n),
      createCloseAccountInstruction(stray.publicKey, keyOf(sponsor), keyOf(target)),
    ],
  });
  expect(await inflowsOf(world, target.address, mints.USDC)).toMatchObject([
    { amount: 20n, from: [{ payer: carol.address, amount: 20n }], unattributed: 0n, feePayer: carol.address },
  ]);
});

test("M8: a token account that is handed over with its content is attributed to who owned it", async ({
  world,
}) => {
  const { mints, party, ata } = world;
  const carol = party({ lamports: SOL, usdc: 50n });
  const target = party();
  const account = Keypair.generate();
  await land(world, {
    signers: [carol, account],
    instructions: [
      ...opening(world, account, carol, carol),
      paying(world, carol, ata(carol.address), account.publicKey, 20n),
    ],
  });
  await land(world, {
    signers: [carol],
    instructions: [
      createSetAuthorityInstruction(
        account.publicKey,
        keyOf(carol),
        AuthorityType.AccountOwner,
        keyOf(target),
      ),
    ],
  });
  const found = await inflowsOf(world, target.address, mints.USDC, [account.publicKey.toBase58() as Address]);
  expect(found).toMatchObject([
    { amount: 20n, from: [{ payer: carol.address, amount: 20n }], unattributed: 0n },
  ]);
});

test("M8: lamports of a closed account are its owner's if the owner signed, and nobody's if somebody else closed it", async ({
  world,
}) => {
  const { party } = world;
  const carol = party({ lamports: SOL });
  const dave = party({ lamports: SOL });
  const target = party();
  const [own, disguised] = [Keypair.generate(), Keypair.generate()];
  const extra = 100_000_000;
  await land(world, { signers: [carol, own], instructions: opening(world, own, carol, carol, extra) });
  await land(world, {
    signers: [carol],
    instructions: [createCloseAccountInstruction(own.publicKey, keyOf(target), keyOf(carol))],
  });
  // Carol keeps the right to close an account that she then makes dave's, who knows nothing of it.
  const { CloseAccount, AccountOwner } = AuthorityType;
  await land(world, {
    signers: [carol, disguised],
    instructions: [
      ...opening(world, disguised, carol, carol, 2 * extra),
      createSetAuthorityInstruction(disguised.publicKey, keyOf(carol), CloseAccount, keyOf(carol)),
      createSetAuthorityInstruction(disguised.publicKey, keyOf(carol), AccountOwner, keyOf(dave)),
    ],
  });
  const relay = party({ lamports: SOL });
  await land(world, {
    signers: [relay, carol],
    instructions: [createCloseAccountInstruction(disguised.publicKey, keyOf(target), keyOf(carol))],
  });
  const first = BigInt(TOKEN_ACCOUNT_RENT + extra);
  const second = BigInt(TOKEN_ACCOUNT_RENT + 2 * extra);
  expect(await inflowsOf(world, target.address, null)).toMatchObject([
    { amount: first, from: [{ payer: carol.address, amount: first }], unattributed: 0n },
    { amount: second, from: [], unattributed: second, feePayer: relay.address },
  ]);
});

test("M8: lamports that a program let go of are nobody's: a nonce account's", async ({ world }) => {
  const { party } = world;
  const carol = party({ lamports: SOL });
  const target = party();
  const nonce = Keypair.generate();
  const lamports = 50_000_000;
  await land(world, {
    signers: [carol, nonce],
    instructions: SystemProgram.createNonceAccount({
      fromPubkey: keyOf(carol),
      noncePubkey: nonce.publicKey,
      authorizedPubkey: keyOf(carol),
      lamports,
    }).instructions,
  });
  const away = { noncePubkey: nonce.publicKey, authorizedPubkey: keyOf(carol), toPubkey: keyOf(target) };
  await land(world, {
    signers: [carol],
    instructions: [SystemProgram.nonceWithdraw({ ...away, lamports })],
  });
  expect(await inflowsOf(world, target.address, null)).toMatchObject([
    { amount: BigInt(lamports), from: [], unattributed: BigInt(lamports), feePayer: carol.address },
  ]);
});

describe("M25: a flood of transactions that only name an address", () => {
  const FLOOD = 150;

  /** Carol pays 20 units of USDC, and the flood comes before and after it. */
  async function flooded(world: RoutingFixture): Promise<{ readonly carol: Party; readonly target: Party }> {
    const { party, ata } = world;
    const [carol, mallory] = [party({ lamports: SOL, usdc: 50n }), party({ lamports: SOL })];
    const target = party({ usdc: 1n });
    const to = ata(target.address);
    await flood(world, mallory, { address: to.toBase58(), count: FLOOD });
    await land(world, {
      signers: [carol],
      instructions: [paying(world, carol, ata(carol.address), to, 20n)],
    });
    await flood(world, mallory, { address: to.toBase58(), count: FLOOD });
    return { carol, target };
  }

  /** Counts what the node is asked for from now on. */
  function callsOf({ chain }: RoutingFixture): (method: string) => number {
    const asked: string[] = [];
    chain.faults.add(({ method }) => void asked.push(method));
    return (method) => asked.filter((each) => each === method).length;
  }

  /** What came of USDC, without the first unit, which the faucet made. */
  const amountIn = (inflows: readonly Inflow[]): bigint =>
    inflows.reduce((sum, { amount, mint }) => (mint === null || amount === 1n ? sum : sum + amount), 0n);

  test("hides nobody: the search goes back to the payer and stops there", async ({ world }) => {
    const { carol, target } = await flooded(world);
    const calls = callsOf(world);
    const { inflows, isWhole } = await world.ledger.payersOf(target.address, [world.mints.USDC], {
      accounts: [],
      isExplained: (found) => amountIn(found) >= 20n,
    });
    expect(isWhole).toBe(true);
    const brought = { amount: 20n, from: [{ payer: carol.address, amount: 20n }] };
    expect(inflows).toContainEqual(expect.objectContaining(brought));
    expect(calls("getTransaction")).toBeLessThan(FLOOD + 100);
  });

  test("is read once: what was read before is not asked for again, and new money is found at once", async ({
    world,
  }) => {
    const { carol, target } = await flooded(world);
    const look = { accounts: [], isExplained: (found: readonly Inflow[]) => amountIn(found) >= 20n };
    await world.ledger.payersOf(target.address, [world.mints.USDC], look);
    const { ata } = world;
    const more = paying(world, carol, ata(carol.address), ata(target.address), 7n);
    await land(world, { signers: [carol], instructions: [more] });
    const calls = callsOf(world);
    const { inflows } = await world.ledger.payersOf(target.address, [world.mints.USDC], {
      ...look,
      isExplained: (found) => amountIn(found) >= 27n,
    });
    expect(amountIn(inflows)).toBe(27n);
    expect(calls("getTransaction")).toBeLessThan(10);
    expect((await world.ledger.payersOf(target.address, [world.mints.USDC], EVERYTHING)).isWhole).toBe(true);
    expect(calls("getTransaction")).toBeLessThan(2 * FLOOD);
  });
});

test("M25: one look makes about a thousand calls, and the next look goes on where it stopped", async ({
  world,
}) => {
  const { party, ata, mints, ledger, chain } = world;
  const [carol, mallory] = [party({ lamports: SOL, usdc: 50n }), party({ lamports: SOL })];
  const target = party({ usdc: 1n });
  const to = ata(target.address);
  await land(world, { signers: [carol], instructions: [paying(world, carol, ata(carol.address), to, 20n)] });
  await flood(world, mallory, { address: to.toBase58(), count: 100 });
  const search = { accounts: [], isExplained: () => false };
  // Between the newest page and the others the node lists the newest one again and again.
  const cursors: unknown[] = [];
  let page: unknown = [];
  const lift = chain.faults.add(({ method, params: [account, query] }) => {
    if (method !== "getSignaturesForAddress" || account !== to.toBase58()) return undefined;
    const { before } = query as { readonly before?: string };
    cursors.push(before);
    return {
      kind: "lie",
      answer: (honest) => {
        if (before === undefined) page = honest;
        return page;
      },
    };
  });
  const first = await ledger.payersOf(target.address, [mints.USDC], search);
  expect(first.isWhole).toBe(false);
  expect(cursors.length).toBeGreaterThan(800);
  expect(cursors.length).toBeLessThanOrEqual(1_000);
  lift();
  const asked: string[] = [];
  chain.faults.add(({ method }) => void asked.push(method));
  const second = await ledger.payersOf(target.address, [mints.USDC], search);
  expect(second.isWhole).toBe(true);
  const brought = { amount: 20n, from: [{ payer: carol.address, amount: 20n }] };
  expect(second.inflows).toContainEqual(expect.objectContaining(brought));
  expect(asked.length).toBeLessThan(20);
});
