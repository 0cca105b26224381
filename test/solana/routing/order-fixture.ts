/** Orders of private mode on a real local chain: the moves that are signed for them, and what becomes of each. */
import { createFreezeAccountInstruction, createThawAccountInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import type { Address } from "../../../src/core/address.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import { rentOf, type OrderReading } from "../../../src/ledger/order-reading.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import {
  signTransaction,
  type SignedTransaction,
  type Signer,
} from "../../../src/ledger/sign-transaction.ts";
import type { Funds } from "../../../src/local/index.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { land } from "../signed-transaction.ts";
import { routingFixture, type Party, type RoutingFixture } from "./routing-fixture.ts";

/** What a byte costs on this chain, the present price of mainnet. */
export const RATE = 6_960n;

/** What a token account is charged for. */
export const TOKEN_ACCOUNT = 165;

/** What became of moves: what was said before they were sent, and what their landed error was explained as. */
export interface Carried {
  readonly signature: string;
  readonly size: number;
  readonly tried: OrderFault | null;
  /** Null when it succeeded. */
  readonly landed: OrderFault | null;
}

/** An account as the chain has it, finalized. */
export interface AccountShown {
  readonly owner: Address;
  readonly length: number;
  readonly lamports: bigint;
}

export interface OrderFixture extends RoutingFixture {
  /** Lamports that an account of so many bytes costs now. */
  rent(bytes?: number): bigint;
  /** Changes what a byte costs. */
  reprice(perByte: bigint): void;
  /** At the sponsor's cost. Of length 0 and today's rent, where nothing else is said. */
  buy(order: Signer, seed: string, told?: { readonly length?: number; readonly lamports?: bigint }): Move;
  empty(order: Signer): Move;
  /** Closes the order's account of USDC, its lamports going to the order. */
  closing(order: Signer): Move;
  /** Tries, signs, sends and waits until it is finalized. The sponsor pays. Throws when it did not land. */
  carry(moves: readonly Move[], ...signers: readonly Signer[]): Promise<Carried>;
  /** `carry`, which throws when it failed: a test's preparations must not. */
  must(moves: readonly Move[], ...signers: readonly Signer[]): Promise<Carried>;
  /** Signs, and sends nothing. */
  signed(moves: readonly Move[], ...signers: readonly Signer[]): Promise<SignedTransaction>;
  /** Sends what was signed before, and explains its error. */
  send(signed: SignedTransaction, moves: readonly Move[]): Promise<OrderFault | null>;
  /** Gives to an owner, finalized. */
  give(owner: Address, funds: Funds): void;
  /** Lets the issuer freeze or thaw an owner's account of USDC. */
  freeze(owner: Address): Promise<void>;
  thaw(owner: Address): Promise<void>;
  account(address: Address | PublicKey): Promise<AccountShown | null>;
  lamports(address: Address | PublicKey): Promise<bigint>;
  /** What the owner's associated account of USDC holds. */
  units(owner: Address): Promise<bigint>;
  /** A finalized look at the order and these owners. */
  look(order: Signer, seeds: readonly string[], ...owners: readonly Address[]): Promise<OrderReading>;
  /** The order's markers, finalized. */
  markersOf(order: Signer, ...seeds: readonly string[]): Promise<OrderReading["markers"]>;
  /** An address of a token account's own rent: what else lies there is its owner's. */
  ataOf(owner: Address): Address;
  /** Somebody who holds plenty of everything. */
  readonly rich: Party;
}

export async function orderFixture(): Promise<OrderFixture> {
  const fixture = await routingFixture();
  const { chain, ledger, sponsor, plan, mints, ata } = fixture;
  const rich = fixture.party({ lamports: 9_000_000_000_000n, usdc: 900_000_000n });
  let rate = RATE;
  chain.setRent(rate);
  const rent = (bytes = 0): bigint => rentOf(rate, bytes);

  const send: OrderFixture["send"] = async ({ bytes, signature }, moves) => {
    await ledger.broadcast(bytes);
    chain.advance(SLOTS_TO_FINALITY);
    const [status] = await ledger.statuses([signature]);
    if (status?.commitment !== "finalized") throw new Error("a transaction did not land");
    return status.error === null
      ? null
      : await ledger.explainOrder(plan(...moves), agreed<string>(status.error));
  };
  const carry: OrderFixture["carry"] = async (moves, ...signers) => {
    const unsigned = await ledger.buildTransaction(plan(...moves));
    const tried = await ledger.tryOrder(plan(...moves), unsigned);
    const transaction = await signTransaction(unsigned, [sponsor, ...signers]);
    const { signature, bytes } = transaction;
    return { signature, size: bytes.length, tried, landed: await send(transaction, moves) };
  };
  const look: OrderFixture["look"] = async ({ address }, seeds, ...owners) =>
    await ledger.readOrder({ address, mints: [mints.USDC], owners, seeds }, "finalized");
  const account: OrderFixture["account"] = async (address) => {
    const params = [String(address), { encoding: "base64", commitment: "finalized" }];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getAccountInfo", params });
    const { result } = (await (await chain.fetch("http://local", { body })).json()) as {
      readonly result: { readonly value: AccountJson | null };
    };
    if (result.value === null) return null;
    const { owner, lamports, data } = result.value;
    return { owner, lamports: BigInt(lamports), length: Buffer.from(data[0], "base64").length };
  };
  const issuing = (make: typeof createFreezeAccountInstruction) => async (owner: Address) => {
    const keys = [ata(owner), new PublicKey(mints.USDC), new PublicKey(chain.faucet.address)] as const;
    await land(fixture, { signers: [chain.faucet], instructions: [make(...keys)] });
  };

  return {
    ...fixture,
    rich,
    rent,
    reprice: (perByte) => {
      rate = perByte;
      chain.setRent(perByte);
    },
    buy: ({ address }, seed, { length = 0, lamports = rent(length) } = {}) => ({
      does: "buy",
      base: address,
      seed,
      length,
      payer: sponsor.address,
      lamports,
    }),
    empty: ({ address }) => ({ does: "empty", address, payer: sponsor.address }),
    closing: ({ address }) => ({ does: "close", mint: mints.USDC, owner: address, to: address }),
    carry,
    must: async (moves, ...signers) => {
      const carried = await carry(moves, ...signers);
      if (carried.landed !== null) throw new Error(`a preparation failed: ${carried.landed.text}`);
      return carried;
    },
    signed: async (moves, ...signers) => {
      // Another blockhash than that of what was signed before.
      chain.advance(3);
      return await fixture.sign(plan(...moves), ...signers);
    },
    send,
    give: (owner, funds) => {
      chain.fund(owner, funds);
      chain.advance(SLOTS_TO_FINALITY);
    },
    freeze: issuing(createFreezeAccountInstruction),
    thaw: issuing(createThawAccountInstruction),
    account,
    lamports: async (address) => (await account(address))?.lamports ?? 0n,
    units: async (owner) => {
      const reading = await ledger.funds([owner], [mints.USDC], "finalized");
      return reading.funds[0]?.tokens[0] ?? 0n;
    },
    look,
    markersOf: async (order, ...seeds) => (await look(order, seeds)).markers,
    ataOf: (owner) => ledger.tokenAccountOf(owner, mints.USDC),
  };
}

interface AccountJson {
  readonly owner: Address;
  readonly lamports: number;
  readonly data: readonly [string, "base64"];
}
