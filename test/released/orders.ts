/** How orders are made for a database that a version leaves. */
// modules: private
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { CreatedTransferBody } from "../../src/payments/frame/signed/accept-signed.ts";
import type { ScreenAddress } from "../../src/payments/frame/recipients/recipients.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import type { HttpsReceiver } from "../kit/https-receiver.ts";
import { units } from "../kit/money.ts";
import type { Send } from "../kit/service-fixture.ts";
import type { Swap, SwapFixture } from "../kit/swap-fixture.ts";
import { signed, type Signing } from "../solana/signed-transaction.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** What the host's screening says of who has paid into an order, by the order's id: what it does not name it serves. */
export class Verdicts {
  readonly #verdicts = new Map<string, "refused" | "silent">();
  readonly screen: ScreenAddress = async (_, { role, transactionId }) => {
    const verdict = role === "depositor" ? this.#verdicts.get(transactionId ?? "") : undefined;
    if (verdict === "silent") throw new Error("the list of sanctions does not answer");
    return verdict ?? "ok";
  };

  say(transactionId: string, verdict: "refused" | "silent"): void {
    this.#verdicts.set(transactionId, verdict);
  }
}

/** What all acts are made with. */
export interface Making {
  readonly world: SwapFixture;
  readonly receiver: HttpsReceiver;
  readonly verdicts: Verdicts;
  /** Multiplies the price of SOL at the desk. */
  readonly market: { factor: bigint };
  /** What Alice has sent past the service. */
  readonly own: Set<unknown>;
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly payees: readonly Wallet[];
}

/** What the service sends while it loses does not land, also when it is sent again. */
export function losing({ world: { chain }, own }: Making): { isOn: boolean } {
  const state = { isOn: true };
  const lost = new Set<unknown>();
  chain.faults.add(({ method, params }) => {
    if (method !== "sendTransaction" || own.has(params[0])) return undefined;
    if (state.isOn) lost.add(params[0]);
    return lost.has(params[0]) ? { kind: "drop" } : undefined;
  });
  return state;
}

/** Alice does this past the service, and it becomes final. */
export async function act(
  { world, own, alice }: Making,
  { signers = [], instructions }: Partial<Signing> & Pick<Signing, "instructions">,
): Promise<void> {
  const bytes = await signed(world, { signers: [alice, ...signers], instructions });
  own.add(bytes);
  await world.ledger.broadcast(Buffer.from(bytes, "base64"));
  world.chain.advance(35);
}

export const pay = ({ alice, payees }: Making, amount: string): Send => ({
  from: alice,
  to: payees[0]?.address ?? "",
  amount,
});

/** An order to so many payees. */
export function order({ world, caller, alice, payees }: Making, count = 1): ReturnType<SwapFixture["order"]> {
  const to = payees.slice(0, count).map(({ address }) => ({ address, amount: "5" }));
  return world.order(caller, { sender: alice, to });
}

/** Where is paid to, and what, in whole units. */
type Paid = Pick<Ordered, "ephemeralAddress" | "depositAmount">;

export type Ordered = Awaited<ReturnType<typeof order>>["body"];

/** Pays what an order asks for, as Alice does, and lets that be final and seen. */
export async function deposit(making: Making, paid: Paid): Promise<void> {
  await payInto(making, paid);
  await making.world.settle(2);
}

/** Pays USDC into the associated accounts of addresses: who has paid in is known, as a host's screening wants it. */
export async function payInto(making: Making, ...paid: readonly Paid[]): Promise<void> {
  const { world, alice } = making;
  const [mint, from] = [new PublicKey(world.mints.USDC), new PublicKey(alice.address)];
  const source = new PublicKey(world.tokenAccountOf(alice, "USDC"));
  await act(making, {
    instructions: paid.flatMap(({ ephemeralAddress, depositAmount }) => {
      const to = new PublicKey(ephemeralAddress);
      const account = getAssociatedTokenAddressSync(mint, to, true);
      return [
        createAssociatedTokenAccountIdempotentInstruction(from, account, to, mint),
        createTransferCheckedInstruction(source, mint, account, from, units(depositAmount, 6), 6),
      ];
    }),
  });
}

export const swap = ({ alice }: Making): Swap => ({ sender: alice, give: "USDC", get: "SOL", amount: "30" });

interface Prepared {
  readonly id: string;
  readonly signature: string;
  readonly bytes: Uint8Array;
}

/** A send that was posted, with its bytes and signature. */
export async function prepared({ world, ...making }: Making, amount: string): Promise<Prepared> {
  const { body } = await world.prepareSend(making.caller, pay({ world, ...making }, amount));
  const created = await world.service.createTransaction(making.caller, {
    ...body,
    recipients: [...body.recipients],
  });
  const { transactionId: id, signature } = created.body as CreatedTransferBody;
  return { id, signature: signature ?? "", bytes: Buffer.from(body.signedTransaction, "base64") };
}
