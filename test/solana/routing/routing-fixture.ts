/** A sponsor, a deposit address and everybody else, on a real local chain, and plans carried out to the end. */
import { agreed } from "../../../src/ledger/agreed.ts";
import { createHash } from "node:crypto";
import { PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import type { Address } from "../../../src/core/address.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import { rentOf } from "../../../src/ledger/order-reading.ts";
import type { Move, TransactionPlan } from "../../../src/ledger/routing.ts";
import {
  keypairSigner,
  signTransaction,
  type SignedTransaction,
  type Signer,
} from "../../../src/ledger/sign-transaction.ts";
import type { Funds } from "../../../src/local/index.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import { chainFixture, SLOTS_TO_FINALITY, type ChainFixture } from "../../kit/chain-fixture.ts";
import { land } from "../signed-transaction.ts";

/** What became of a plan: what was said before it was sent, and what its landed error was explained as. */
export interface Outcome {
  readonly signed: SignedTransaction;
  readonly tried: OrderFault | null;
  /** Null when it succeeded. */
  readonly landed: OrderFault | null;
  /** What it bid for its place in a block, in lamports. */
  readonly priorityFee: bigint;
}

/** Somebody with a key. */
export interface Party extends Signer {
  readonly secretKey: Uint8Array;
}

export interface RoutingFixture extends ChainFixture {
  /** Pays fees, marks and priced accounts. */
  readonly sponsor: Party;
  /** A new deposit address that holds this. */
  deposit(funds: Funds): Party;
  /** A key pair that nobody knows yet, with these funds. */
  party(funds?: Funds): Party;
  /** An address that was never used. */
  nobody(): Address;
  plan(...moves: readonly Move[]): TransactionPlan;
  /** A marker of length 0, at the sponsor's cost. */
  mark(deposit: Signer, seed?: string): Move;
  sol(from: Signer, to: Address, amount: bigint): Move;
  usdc(from: Signer, to: Address, amount: bigint, accountPayer?: Address | null): Move;
  /** Builds, tries, signs and sends, and waits until it is finalized. Throws when it did not land. */
  carryOut(plan: TransactionPlan, ...signers: readonly Signer[]): Promise<Outcome>;
  /** Builds and signs, and sends nothing. */
  sign(plan: TransactionPlan, ...signers: readonly Signer[]): Promise<SignedTransaction>;
  /** Finalized, over all of its token accounts: lamports and USDC. */
  holds(owner: Address): Promise<readonly [lamports: bigint, usdc: bigint]>;
  ata(owner: Address): PublicKey;
  /** Lets the mint's authority do something to token accounts. */
  asIssuer(instructions: Parameters<typeof land>[1]["instructions"]): Promise<void>;
}

// What the local chain charges a byte until a test says otherwise.
const RENT_PER_BYTE = 6_960n;

export async function routingFixture(): Promise<RoutingFixture> {
  const fixture = await chainFixture();
  const { chain, ledger, mints } = fixture;
  let names = 0;
  const party = (funds: Funds = {}): Party => {
    const { secretKey } = fixture.wallet(`party ${(names += 1)}`, funds);
    return { ...keypairSigner(secretKey), secretKey };
  };
  const sponsor = party({ lamports: 1_000_000_000_000n });
  chain.advance(SLOTS_TO_FINALITY);
  const sign: RoutingFixture["sign"] = async (plan, ...signers) =>
    await signTransaction(await ledger.buildTransaction(plan), [sponsor, ...signers]);
  const transfer = (
    from: Signer,
    to: Address,
    amount: bigint,
  ): Pick<Extract<Move, { does: "transfer" }>, "does" | "from" | "to" | "amount"> => ({
    does: "transfer",
    from: from.address,
    to,
    amount,
  });
  return {
    ...fixture,
    sponsor,
    party,
    deposit: party,
    nobody: () => {
      const bytes = createHash("sha256")
        .update(`nobody ${(names += 1)}`)
        .digest();
      return bs58.encode(bytes) as Address;
    },
    plan: (...moves) => ({ feePayer: sponsor.address, moves }),
    mark: ({ address }, seed = "0") => ({
      does: "buy",
      base: address,
      seed,
      length: 0,
      payer: sponsor.address,
      lamports: rentOf(RENT_PER_BYTE, 0),
    }),
    sol: (from, to, amount) => ({
      ...transfer(from, to, amount),
      mint: null,
      decimals: 9,
      accountPayer: null,
    }),
    usdc: (from, to, amount, accountPayer = sponsor.address) => ({
      ...transfer(from, to, amount),
      mint: mints.USDC,
      decimals: 6,
      accountPayer,
    }),
    sign,
    carryOut: async (plan, ...signers) => {
      const unsigned = await ledger.buildTransaction(plan);
      const tried = await ledger.tryOrder(plan, unsigned);
      const signed = await signTransaction(unsigned, [sponsor, ...signers]);
      await ledger.broadcast(signed.bytes);
      chain.advance(SLOTS_TO_FINALITY);
      const [status] = await ledger.statuses([signed.signature]);
      if (status?.commitment !== "finalized") throw new Error("a transaction did not land");
      const landed =
        status.error === null ? null : await ledger.explainOrder(plan, agreed<string>(status.error));
      return { signed, tried, landed, priorityFee: unsigned.priorityFee };
    },
    holds: async (owner) => {
      const { lamports, tokens } = await ledger.holdingsOf(owner, [mints.USDC], "finalized");
      return [lamports, tokens[0] ?? 0n];
    },
    ata: (owner) => new PublicKey(associatedTokenAddress(owner, mints.USDC)),
    asIssuer: async (instructions) => {
      await land(fixture, { signers: [chain.faucet], instructions });
    },
  };
}
