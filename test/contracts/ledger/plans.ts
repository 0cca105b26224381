/** Plans for the cases of the ledger contract: who takes part, what is moved, and what became of it. */
import { agreed } from "../../../src/ledger/agreed.ts";
import assert from "node:assert/strict";
import type { Address } from "../../../src/core/address.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import type { Move, TransactionPlan } from "../../../src/ledger/routing.ts";
import { signTransaction, type SignedTransaction } from "../../../src/ledger/sign-transaction.ts";
import type { LedgerWorld, WorldWallet } from "./contract.ts";
import { only, PLENTY } from "./payments.ts";

/** Lamports that a case makes its markers with: more than any chain asks for. */
export const MARKER = 5_000_000n;

/** Somebody who pays for everything, and an address that money is paid from. */
export interface Parties {
  readonly sponsor: WorldWallet;
  readonly payer: WorldWallet;
}

/** `payer` holds this. */
export async function parties(
  world: LedgerWorld,
  funds: Parameters<LedgerWorld["wallet"]>[0],
): Promise<Parties> {
  return { sponsor: await world.wallet({ native: PLENTY }), payer: await world.wallet(funds) };
}

/** A plan that the sponsor pays for. */
export function planOf({ sponsor }: Pick<Parties, "sponsor">, ...moves: readonly Move[]): TransactionPlan {
  return { feePayer: sponsor.address, moves };
}

/** The marker of a payment, at the sponsor's cost. */
export function mark({ sponsor, payer }: Parties, seed = "0"): Move {
  return {
    does: "buy",
    base: payer.address,
    seed,
    length: 0,
    payer: sponsor.address,
    lamports: MARKER,
  };
}

/** The chain's own coin. */
export function coin(from: Pick<WorldWallet, "address">, to: Address, amount: bigint): Move {
  return {
    does: "transfer",
    mint: null,
    decimals: 9,
    from: from.address,
    to,
    amount,
    accountPayer: null,
  };
}

/** The world's token. */
export function units(
  { token }: LedgerWorld,
  from: Pick<WorldWallet, "address">,
  to: Address,
  amount: bigint,
  accountPayer: Address | null = null,
): Extract<Move, { does: "transfer" }> {
  return { does: "transfer", ...token, from: from.address, to, amount, accountPayer };
}

/** What became of a plan. */
export interface Outcome {
  readonly signed: SignedTransaction;
  /** What was said before it was sent. */
  readonly tried: OrderFault | null;
  /** What its landed error was explained as; null when it succeeded. */
  readonly landed: OrderFault | null;
}

/** Builds and signs. Broadcasts nothing. */
export async function signed(
  { ledger, wait }: LedgerWorld,
  plan: TransactionPlan,
  ...signers: readonly WorldWallet[]
): Promise<SignedTransaction> {
  const unsigned = await wait(ledger.buildTransaction(plan));
  return signTransaction(
    unsigned,
    signers.map(({ signer }) => signer),
  );
}

/** Tries, signs and sends a plan, and lets it become final. Rejects when it did not land. */
export async function carryOut(
  world: LedgerWorld,
  plan: TransactionPlan,
  ...signers: readonly WorldWallet[]
): Promise<Outcome> {
  const { ledger } = world;
  const unsigned = await world.wait(ledger.buildTransaction(plan));
  const tried = await world.wait(ledger.tryOrder(plan, unsigned));
  const transaction = await signTransaction(
    unsigned,
    signers.map(({ signer }) => signer),
  );
  await world.wait(ledger.broadcast(transaction.bytes));
  await makeFinal(world);
  const status = only(await world.wait(ledger.statuses([transaction.signature])));
  assert.equal(status?.commitment, "finalized");
  const landed = status.error === null ? null : await ledger.explainOrder(plan, agreed<string>(status.error));
  return { signed: transaction, tried, landed };
}

/** Carries out what must succeed, and was said to. */
export async function succeed(
  world: LedgerWorld,
  plan: TransactionPlan,
  ...signers: readonly WorldWallet[]
): Promise<SignedTransaction> {
  const { tried, landed, signed: transaction } = await carryOut(world, plan, ...signers);
  assert.deepEqual([tried, landed], [null, null]);
  return transaction;
}

/** Lets everything that has landed become final, and what was remembered of before become old. */
export async function makeFinal(world: LedgerWorld): Promise<void> {
  await world.pass(world.blocksToFinality);
  await world.elapse(REMEMBERED_MS);
}

// An implementation may answer with the newest blockhash of a moment ago.
const REMEMBERED_MS = 2_000;

/** What an address holds of the coin and the token, finalized. */
export async function holds(
  world: LedgerWorld,
  address: Address,
): Promise<readonly [coins: bigint, tokens: bigint]> {
  const { funds } = await world.wait(world.ledger.funds([address], [world.token.mint], "finalized"));
  const { lamports, tokens } = only(funds);
  return [lamports, only(tokens)];
}

/** What of a fault every chain says alike: the move, and its instruction. */
export function placeOf(fault: OrderFault | null): readonly [number, string] | null {
  return fault?.at ? [fault.at.move, fault.at.step] : null;
}
