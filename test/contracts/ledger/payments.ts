/** Payments for the cases of the ledger contract. */
import { fatesOf } from "../../kit/fates.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { Evidence } from "../../../src/ledger/belief.ts";
import assert from "node:assert/strict";
import bs58 from "bs58";
import type { Address } from "../../../src/core/address.ts";
import type {
  Attempt,
  DeclaredPayment,
  Landing,
  SignatureStatus,
  VerifiedPayment,
} from "../../../src/ledger/ledger.ts";
import type { LedgerWorld, WorldWallet } from "./contract.ts";

/** Enough for every payment of a case and its fees. */
export const PLENTY = 1_000_000_000n;
/** More than an empty account must hold, so that it may be paid to one. */
export const AMOUNT = 10_000_000n;
/** An identity that no transaction of the chain has. */
export const UNHEARD_OF = "1".repeat(64);

/** What an attempt that nobody has heard of differs in from one that was sent. */
export const UNSEEN = { signature: UNHEARD_OF, messageHash: "0".repeat(64), reference: null };

/** The only item of a list of one. */
export function only<T>(items: readonly T[]): T {
  const [item] = items;
  assert.equal(items.length, 1);
  return item as T;
}

/** A payment in the chain's own coin. */
export function native(from: WorldWallet, to: WorldWallet, amount = AMOUNT): DeclaredPayment {
  return { sender: from.address, mint: null, decimals: 9, transfers: [{ recipient: to.address, amount }] };
}

/** A payment in the world's token. */
export function tokens(
  { token }: LedgerWorld,
  from: WorldWallet,
  to: readonly WorldWallet[],
  amount = 5n,
): DeclaredPayment {
  const transfers = to.map(({ address }) => ({ recipient: address, amount }));
  return { sender: from.address, ...token, transfers };
}

let references = 0;

/** A reference that no other payment has. */
export function reference(): Uint8Array {
  references += 1;
  const bytes = new Uint8Array(32).fill(7);
  new DataView(bytes.buffer).setUint32(0, references);
  return bytes;
}

/** A payment as it is when its first byte may leave, with the last height that its builder was told. */
export type Ready = Evidence<VerifiedPayment> & Attempt & { readonly payment: DeclaredPayment };

/** Builds, signs and verifies a payment. Broadcasts nothing. */
export async function ready(
  world: LedgerWorld,
  from: WorldWallet,
  payment: DeclaredPayment,
  mark = reference(),
): Promise<Ready> {
  const { bytes, lastValidBlockHeight } = await world.wait(world.ledger.buildPayment(payment, mark));
  const answer = await world.wait(world.ledger.verifyPayment(from.sign(bytes), payment));
  assert("verified" in answer, `refused as ${JSON.stringify(answer)}`);
  const key = bs58.encode(mark) as Address;
  return { ...answer.verified, lastValidBlockHeight: agreed(lastValidBlockHeight), payment, reference: key };
}

/** A payment of the chain's own coin between two new wallets, ready to be sent. */
export async function readyBetweenStrangers(
  world: LedgerWorld,
): Promise<Ready & { readonly payer: Address }> {
  const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
  return { ...(await ready(world, from, native(from, to))), payer: from.address };
}

/** Sends a payment and lets it become final. Rejects when it failed on the chain. */
export async function settle(world: LedgerWorld, attempt: Ready): Promise<void> {
  await world.ledger.broadcast(attempt.bytes);
  await world.pass(world.blocksToFinality);
  const status = await statusOf(world, attempt);
  assert.deepEqual([status?.commitment, status?.error], ["finalized", null]);
}

/** What is known of one signature. */
export async function statusOf(world: LedgerWorld, { signature }: Attempt): Promise<SignatureStatus | null> {
  return only(await world.wait(world.ledger.statuses([signature])));
}

/** What can be said of one attempt. */
export async function fateOf(world: LedgerWorld, attempt: Attempt): Promise<string> {
  return only(await world.wait(fatesOf(world.ledger, [attempt])));
}

/** How an attempt landed, as far as enough endpoints agree. */
export async function landingOf(world: LedgerWorld, attempt: Attempt): Promise<Landing | null> {
  return only(await world.wait(world.ledger.landings([attempt])));
}

/** Base units of the chain's own coin. */
export async function wealth(world: LedgerWorld, address: Address): Promise<bigint> {
  return (await world.wait(world.ledger.balances(address))).lamports;
}

/** Lets blocks pass until the one of this height is finalized, the last in which an attempt with `height − 1` may land. */
export async function finalizeHeight(world: LedgerWorld, height: number): Promise<void> {
  await world.pass(height + world.blocksToFinality - world.height());
}
