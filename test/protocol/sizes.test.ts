/** How much one transaction of the protocol holds: 1,232 bytes, v0, two ComputeBudget instructions, two signers. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { expect, test } from "vitest";
import { signed, SOL, somebody } from "../local/kit.ts";
import type { Step } from "./chain.ts";
import { computeBudget, type DepositOnChain, depositsOnChain } from "./on-chain.ts";

const makeDeposit = depositsOnChain();

const MAX_BYTES = 1_232;
const NO_BLOCKHASH = "11111111111111111111111111111111";
const DECIMALS = 6;
const LOAN = 1_000_000;

type Asset = "SOL" | "token";

const MARK: readonly Step[] = [{ does: "make", marker: "words" }];
const REPLACE: readonly Step[] = [
  ...MARK,
  { does: "approve", marker: "words", delegate: "successor" },
  { does: "make", marker: "successor" },
];
const FOLLOW: Step = { does: "revoke", marker: "plan" };

/** The most recipients of a transaction that begins with these steps, and its bytes. */
interface Capacity {
  readonly of: string;
  readonly asset: Asset;
  readonly steps: readonly Step[];
  /** Whether the sponsor lends the deposit address what a remainder of SOL has to keep. */
  readonly lends: boolean;
  readonly recipients: number;
  readonly bytes: number;
}

const CAPACITIES: readonly Capacity[] = [
  { of: "payment", asset: "SOL", steps: MARK, lends: false, recipients: 13, bytes: 1_225 },
  { of: "payment with a loan", asset: "SOL", steps: MARK, lends: true, recipients: 12, bytes: 1_193 },
  { of: "payment", asset: "token", steps: MARK, lends: false, recipients: 6, bytes: 1_230 },
  {
    of: "payment of a plan",
    asset: "SOL",
    steps: [FOLLOW, ...MARK],
    lends: false,
    recipients: 12,
    bytes: 1_214,
  },
  {
    of: "payment of a plan with a loan",
    asset: "SOL",
    steps: [FOLLOW, ...MARK],
    lends: true,
    recipients: 12,
    bytes: 1_231,
  },
  {
    of: "payment of a plan",
    asset: "token",
    steps: [FOLLOW, ...MARK],
    lends: false,
    recipients: 5,
    bytes: 1_177,
  },
  { of: "inline replacement", asset: "SOL", steps: REPLACE, lends: false, recipients: 8, bytes: 1_203 },
  { of: "inline replacement", asset: "token", steps: REPLACE, lends: false, recipients: 3, bytes: 1_180 },
  {
    of: "inline replacement of a plan's words",
    asset: "SOL",
    steps: [FOLLOW, ...REPLACE],
    lends: false,
    recipients: 7,
    bytes: 1_192,
  },
  {
    of: "inline replacement of a plan's words",
    asset: "token",
    steps: [FOLLOW, ...REPLACE],
    lends: false,
    recipients: 3,
    bytes: 1_218,
  },
];

function title({ of, asset, recipients, bytes }: Capacity): string {
  return `${of} in ${asset}: ${String(recipients)} recipients, ${String(bytes)} bytes`;
}

test.each(CAPACITIES.map((capacity) => [title(capacity), capacity] as const))("%s", async (_, capacity) => {
  const onChain = await fundedDeposit();
  const first = [...(capacity.lends ? [lend(onChain)] : []), ...(await compile(onChain, capacity.steps))];
  const { count, instructions } = fill(onChain, first, () => pay(onChain, capacity.asset));
  expect([count, sizeOf(onChain, instructions)]).toEqual([capacity.recipients, capacity.bytes]);
  expect(await onChain.send(instructions)).toBeNull();
});

test("token payments fit the instruction trace even where somebody has sent lamports to every account", async () => {
  const onChain = await fundedDeposit();
  const mint = new PublicKey(onChain.chain.mints.USDC);
  const first = await compile(onChain, MARK);
  const { instructions } = fill(onChain, first, () => pay(onChain, "token"));
  const accounts = instructions
    .flatMap(({ keys }) => keys)
    .filter(({ isWritable, isSigner, pubkey }) => isWritable && !isSigner && !pubkey.equals(mint));
  for (const { pubkey } of accounts) onChain.chain.fund(pubkey.toBase58(), { lamports: 10_000_000n });
  expect(await onChain.send(instructions)).toBeNull();
});

test("a sweep closes 23 markers in one transaction", async () => {
  const onChain = makeDeposit();
  const names = Array.from({ length: 40 }, (_, index) => `marker ${String(index)}`);
  const closes = await compile(
    onChain,
    names.map((marker) => ({ does: "close", marker }) as const),
  );
  let next = 0;
  const { count, instructions } = fill(onChain, [], () => closes.slice(next, (next += 1)));
  expect(count).toBe(23);
  for (const marker of names.slice(0, count)) {
    expect(await onChain.land({ name: marker, steps: [{ does: "make", marker }] })).toBeNull();
  }
  expect(await onChain.send(instructions)).toBeNull();
});

async function fundedDeposit(): Promise<DepositOnChain> {
  const onChain = makeDeposit();
  onChain.fund(100);
  onChain.chain.fund(onChain.deposit.publicKey.toBase58(), { usdc: 1_000_000n });
  expect(await onChain.land({ name: "plan", steps: [{ does: "make", marker: "plan" }] })).toBeNull();
  return onChain;
}

async function compile(onChain: DepositOnChain, steps: readonly Step[]): Promise<TransactionInstruction[]> {
  return (await Promise.all(steps.map((step) => onChain.instructions(step)))).flat();
}

function lend({ sponsor, deposit }: DepositOnChain): TransactionInstruction {
  return SystemProgram.transfer({
    fromPubkey: sponsor.publicKey,
    toPubkey: deposit.publicKey,
    lamports: LOAN,
  });
}

function pay(onChain: DepositOnChain, asset: Asset): TransactionInstruction[] {
  const payee = somebody();
  if (asset === "SOL") return [onChain.move(payee, SOL / 100n)];
  const owner = onChain.deposit.publicKey;
  const mint = new PublicKey(onChain.chain.mints.USDC);
  const [from, to] = [owner, payee].map((holder) => getAssociatedTokenAddressSync(mint, holder));
  if (from === undefined || to === undefined) throw new Error("Two accounts were expected.");
  return [
    createAssociatedTokenAccountIdempotentInstruction(onChain.sponsor.publicKey, to, payee, mint),
    createTransferCheckedInstruction(from, mint, to, owner, 1n, DECIMALS),
  ];
}

interface Filled {
  readonly count: number;
  readonly instructions: readonly TransactionInstruction[];
}

/** As many of what `one` makes as fit behind `first`. */
function fill(
  onChain: DepositOnChain,
  first: readonly TransactionInstruction[],
  one: () => readonly TransactionInstruction[],
): Filled {
  let instructions = first;
  for (let count = 0; ; count += 1) {
    const next = [...instructions, ...one()];
    if (sizeOf(onChain, next) > MAX_BYTES) return { count, instructions };
    instructions = next;
  }
}

function sizeOf(onChain: DepositOnChain, instructions: readonly TransactionInstruction[]): number {
  try {
    const whole = [...computeBudget(), ...instructions];
    return signed(NO_BLOCKHASH, whole, [onChain.sponsor, onChain.deposit]).serialize().length;
  } catch (error) {
    // web3.js writes into a buffer of the largest size.
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
