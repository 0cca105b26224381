/** What a case of the ledger contract is, and the world it happens in. */
import type { Address } from "../../../src/core/address.ts";
import type { AccountKind, Ledger } from "../../../src/ledger/ledger.ts";
import type { TokenProgram } from "../../../src/ledger/routing.ts";
import type { Signer } from "../../../src/ledger/sign-transaction.ts";

/** Somebody with a key on the chain under test. */
export interface WorldWallet {
  readonly address: Address;
  /** The same key, for transactions that the service signs. */
  readonly signer: Signer;
  /** Signs the bytes that `buildPayment` made, as a wallet does, and returns the transaction in base64. */
  sign(unsigned: Uint8Array): string;
}

/**
 * What is wrong with one endpoint. `silent`: takes calls and never answers. `refusing`: answers every call with an error.
 * `busy`: refuses every call for being asked too often. `slow`: answers after six seconds. `losing_answers`: does what
 * it is asked, and every answer is lost. `dropping`: acknowledges transactions and passes none on. `forgetful`: knows no
 * transaction that ever landed. `lagging`: knows the chain as it was a hundred blocks ago. `duplicating`: does everything
 * twice.
 */
export type EndpointFault =
  | "silent"
  | "refusing"
  | "busy"
  | "slow"
  | "losing_answers"
  | "dropping"
  | "forgetful"
  | "lagging"
  | "duplicating";

/** A chain of its own, the ledger under test in front of it, and the hands that move both. */
export interface LedgerWorld {
  /** Asks two endpoints of the chain. */
  readonly ledger: Ledger;
  /** What its readings call them, the preferred one first. */
  readonly endpoints: readonly [string, string];
  /** Stands in the configured address of both endpoints, as a provider's key does. */
  readonly secret: string;
  /** A token of the chain's first token program. */
  readonly token: { readonly mint: Address; readonly decimals: number };
  /** A token of another program of the chain. */
  readonly others: { readonly mint: Address; readonly decimals: number; readonly program: TokenProgram };
  /** Addresses of the chain and what stands there; among them at least a wallet, a mint and an absent account. */
  readonly landmarks: readonly (readonly [Address, AccountKind])[];
  /** So many blocks after its own, a transaction is finalized. */
  readonly blocksToFinality: number;
  /** A new wallet with these base units, finalized. */
  wallet(funds: {
    readonly native?: bigint;
    readonly tokens?: bigint;
    readonly others?: bigint;
  }): Promise<WorldWallet>;
  /** Opens an account of `token` for this owner beside its associated one, with these base units, finalized. */
  beside(owner: Address, units: bigint): Promise<Address>;
  /** Has the issuer of `token` freeze an account, finalized. */
  freeze(account: Address): Promise<void>;
  /** The height of the block that transactions land in now. */
  height(): number;
  /** Lets so many blocks pass. */
  pass(blocks: number): Promise<void>;
  /** Abandons the newest blocks, as many as given and never a finalized one: what landed in them did not land. */
  fork(blocks: number): Promise<void>;
  /** Makes storage on the chain more expensive. */
  reprice(): Promise<void>;
  /** Breaks one endpoint until the function it returns is called. One fault at a time. */
  breakEndpoint(index: 0 | 1, fault: EndpointFault): () => void;
  /** Lets so much of the ledger's time pass. */
  elapse(ms: number): Promise<void>;
  /** The outcome of work that may have to wait: lets the ledger's time pass until it comes. */
  wait<T>(work: Promise<T>): Promise<T>;
  /** Closes the ledger and ends the chain. */
  destroy(): Promise<void>;
}

/** One promise of the port, named as a sentence. */
export interface LedgerContractCase {
  readonly name: string;
  /** Rejects when the promise is broken. Needs no test framework. */
  run(makeWorld: () => Promise<LedgerWorld>): Promise<void>;
}

export function promise(name: string, holds: (world: LedgerWorld) => Promise<void>): LedgerContractCase {
  return {
    name,
    async run(makeWorld) {
      const world = await makeWorld();
      try {
        await holds(world);
      } finally {
        await world.destroy();
      }
    },
  };
}
