/** One private order with everybody in it, and the judgement over what became of all the money. */
// modules: private
import {
  AccountLayout,
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createMintToCheckedInstruction,
  createSetAuthorityInstruction,
  createThawAccountInstruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { expect } from "vitest";
import { paymentStorage } from "../../../src/payments/payment-storage.ts";
import { memoryStorage } from "../../kit/storages.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { PrivateRoutingOptions } from "../../../src/payments/private/private-routing-options.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { TransferRecord } from "../../../src/payments/private/tables.ts";
import type { TransactionBody } from "../../../src/payments/frame/transactions/transaction-schema.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { brokenInvariants } from "../../kit/check-invariants.ts";
import { brokenMoney } from "../../kit/check-money.ts";
import { privateFixture, type PrivateFixture } from "../../kit/private-fixture.ts";
import { units } from "../../kit/money.ts";
import { recordStorage, type StorageLog } from "../../kit/record-storage.ts";
import { expectClosedBooks } from "./closed-books.ts";
import { land, publicKeyOf } from "../../solana/signed-transaction.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** One SOL in lamports. */
export const SOL = 1_000_000_000n;

/** How long a slot takes, and the most that pass at once: more than signed bytes live. */
const SLOT_MS = 400;
const MAX_SLOTS = 300;

export type Stablecoin = "USDC" | "USDT";

/** A world whose every commit is kept, so that it can be judged at the end. */
export interface Scene extends PrivateFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  /** Posts a send of alice's to bob, or whoever else. */
  sendTo(order?: { to?: Wallet; amount?: string; asset?: string }): Promise<Ordered>;
  /** The transaction as its owner sees it. */
  shown(order: Ordered): Promise<TransactionBody>;
  /** The innermost state of the order's chart. */
  stateOf(order: Ordered): Promise<unknown>;
  /** Carries out instructions as the issuer of both stablecoins, who also pays for them. */
  asIssuer(instructions: readonly TransactionInstruction[], ...signers: readonly Wallet[]): Promise<void>;
  /** Opens a token account of this owner that is not its associated one, and puts something in. */
  strayAccount(owner: string, asset: Stablecoin, amount: bigint): Promise<PublicKey>;
  /** Puts more into a token account. */
  mintInto(account: PublicKey, asset: Stablecoin, amount: bigint): Promise<void>;
  /** Opens the wallet's associated account. */
  openAccount(wallet: Wallet, asset: Stablecoin): Promise<void>;
  /** Closes the wallet's empty associated account. */
  closeAccount(wallet: Wallet, asset: Stablecoin): Promise<void>;
  /** Hands the wallet's associated account over to somebody else. */
  handOver(wallet: Wallet, asset: Stablecoin, to: Wallet): Promise<void>;
  /** A plain transfer of lamports, as the wallet's owner makes it. */
  pay(from: Wallet, to: string, lamports: bigint): Promise<void>;
  /** A plain transfer between associated accounts. */
  payTokens(from: Wallet, to: string, asset: Stablecoin, amount: bigint): Promise<void>;
  thaw(wallet: Wallet, asset: Stablecoin): Promise<void>;
  /** Lets time pass, and with it slots, so that whatever became due in it is also made final. */
  passAndSettle(ms: number, rounds?: number): Promise<void>;
  /** Stops the service and expects every invariant to hold. Ends every test of a scene. */
  judge(): Promise<void>;
  /** The same where all nodes lied: something may have been told as missing. */
  judgeDeceived(): Promise<void>;
}

/** An order that was taken. */
export interface Ordered {
  readonly id: string;
  readonly address: string;
  /** What is asked for, in base units. */
  readonly due: bigint;
}

/** Its transfers of one kind, as they are stored. */
export async function transfersOf(
  world: Scene,
  { id }: Ordered,
  kind: TransferRecord["kind"],
): Promise<readonly TransferRecord[]> {
  const view = await world.storage.orderedTransaction(id);
  return view?.order?.transfers.filter((transfer) => transfer.kind === kind) ?? [];
}

/** Why nothing that pays is signed for it, as persons have to end it. */
export async function holdsOf(world: Scene, { id }: Ordered): Promise<readonly string[]> {
  const view = await world.storage.orderedTransaction(id);
  return view?.order?.holds.filter(({ endedAt }) => endedAt === null).map(({ reason }) => reason) ?? [];
}

/** An order's id, its address and what it asks for. */
export function orderedAs(body: {
  readonly transactionId: string;
  readonly ephemeralAddress: string;
  readonly depositAmount: string;
  readonly depositAsset: string;
}): Ordered {
  const decimals = body.depositAsset === "SOL" ? 9 : 6;
  return {
    id: body.transactionId,
    address: body.ephemeralAddress,
    due: units(body.depositAmount, decimals),
  };
}

export async function scene(
  options: Partial<PaymentServiceOptions> = {},
  routing: Partial<PrivateRoutingOptions> = {},
  ledgerOn?: Parameters<typeof privateFixture>[2],
): Promise<Scene> {
  const log: StorageLog = { commits: [], claims: [] };
  let now = (): number => 0;
  const kept = options.storage === undefined ? await memoryStorage() : paymentStorage(options.storage);
  const storage = recordStorage(kept, log, () => now());
  const world = await privateFixture({ ...options, storage }, routing, ledgerOn);
  now = () => world.clock.now();
  const { chain, mints, ledger, service } = world;
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: SOL, usdc: 1n, usdt: 1n });
  const bob = world.wallet("bob", { lamports: SOL });
  const payer = world.wallet("payer of preparations", { lamports: 100n * SOL });
  const addresses: string[] = [];
  chain.advance(35);

  const prepare = async (
    instructions: readonly TransactionInstruction[],
    ...signers: readonly Pick<Wallet, "secretKey">[]
  ): Promise<void> => {
    const needed = new Set(
      instructions.flatMap(({ keys }) =>
        keys.filter(({ isSigner }) => isSigner).map(({ pubkey }) => pubkey.toBase58()),
      ),
    );
    const others = [chain.faucet, ...signers].filter(({ secretKey }) =>
      needed.has(publicKeyOf({ secretKey }).toBase58()),
    );
    await land(world, { signers: [payer, ...others], instructions });
    await service.settled();
  };
  const issuer = new PublicKey(chain.faucet.address);
  const payerKey = new PublicKey(payer.address);
  const accountOf = (wallet: Wallet, asset: Stablecoin): PublicKey =>
    new PublicKey(world.tokenAccountOf(wallet, asset));
  const mintOf = (asset: Stablecoin): PublicKey => new PublicKey(mints[asset]);
  const minting = (account: PublicKey, asset: Stablecoin, amount: bigint): TransactionInstruction =>
    createMintToCheckedInstruction(mintOf(asset), account, issuer, amount, 6);

  const settle = async (rounds?: number): Promise<void> => world.settle(rounds);

  const broken = async (): Promise<readonly string[]> => {
    await service.settled();
    await service.stop();
    const at = { storage: world.storage, ledger, mints: [mints.USDC, mints.USDT] };
    return [
      ...(await brokenInvariants({ storage: world.storage, log, workflows: service.workflows })),
      ...(await brokenMoney(at, addresses)),
    ];
  };

  return {
    ...world,
    customer,
    alice,
    bob,
    async order(...order) {
      const ordered = await world.order(...order);
      addresses.push(ordered.body.ephemeralAddress);
      return ordered;
    },
    async sendTo({ to = bob, amount = "5", asset = "USDC" } = {}) {
      const { body } = await world.order(customer, {
        sender: alice,
        to: [{ address: to.address, amount }],
        asset,
      });
      addresses.push(body.ephemeralAddress);
      return orderedAs(body);
    },
    async shown({ id }) {
      const answer = await service.transaction(customer, id);
      expectClosedBooks(answer, { SOL: 9, USDC: 6, USDT: 6 });
      return answer;
    },
    async stateOf({ id }) {
      const instance = await world.storage.load(id);
      let { value } = JSON.parse(instance?.snapshot ?? "{}") as { value?: unknown };
      while (typeof value === "object" && value !== null) [value] = Object.values(value) as unknown[];
      return value;
    },
    asIssuer: prepare,
    async strayAccount(owner, asset, amount) {
      const account = Keypair.generate();
      const rent = Number(await ledger.rentMinimum(AccountLayout.span));
      await prepare(
        [
          SystemProgram.createAccount({
            fromPubkey: payerKey,
            newAccountPubkey: account.publicKey,
            lamports: rent,
            space: AccountLayout.span,
            programId: TOKEN_PROGRAM_ID,
          }),
          createInitializeAccount3Instruction(account.publicKey, mintOf(asset), new PublicKey(owner)),
          ...(amount === 0n ? [] : [minting(account.publicKey, asset, amount)]),
        ],
        account,
      );
      return account.publicKey;
    },
    mintInto: (account, asset, amount) => prepare([minting(account, asset, amount)]),
    openAccount: (wallet, asset) =>
      prepare([
        createAssociatedTokenAccountIdempotentInstruction(
          payerKey,
          accountOf(wallet, asset),
          new PublicKey(wallet.address),
          mintOf(asset),
        ),
      ]),
    closeAccount: (wallet, asset) => {
      const owner = new PublicKey(wallet.address);
      return prepare([createCloseAccountInstruction(accountOf(wallet, asset), owner, owner)], wallet);
    },
    handOver: (wallet, asset, to) =>
      prepare(
        [
          createSetAuthorityInstruction(
            accountOf(wallet, asset),
            new PublicKey(wallet.address),
            AuthorityType.AccountOwner,
            new PublicKey(to.address),
          ),
        ],
        wallet,
      ),
    pay: (from, to, lamports) =>
      prepare(
        [
          SystemProgram.transfer({
            fromPubkey: new PublicKey(from.address),
            toPubkey: new PublicKey(to),
            lamports,
          }),
        ],
        from,
      ),
    payTokens: (from, to, asset, amount) =>
      prepare(
        [
          createTransferCheckedInstruction(
            accountOf(from, asset),
            mintOf(asset),
            accountOf({ ...from, address: to as Wallet["address"] }, asset),
            new PublicKey(from.address),
            amount,
            6,
          ),
        ],
        from,
      ),
    thaw: (wallet, asset) =>
      prepare([createThawAccountInstruction(accountOf(wallet, asset), mintOf(asset), issuer)]),
    async passAndSettle(ms, rounds) {
      await service.settled();
      chain.advance(Math.min(Math.ceil(ms / SLOT_MS), MAX_SLOTS));
      await world.pass(ms);
      await settle(rounds);
    },
    async judge() {
      expect([...(await broken()), ...toldMissing(log)]).toEqual([]);
    },
    async judgeDeceived() {
      expect(await broken()).toEqual([]);
    },
  };
}

/** C13: what was ever told as missing, though nobody here takes what is not his. */
function toldMissing({ commits }: StorageLog): readonly string[] {
  const writes = commits.flatMap(({ commit }) => commit.writes ?? []);
  return writes.flatMap((write) => {
    if (write.table !== "levels" || !("set" in write) || (write.set.missing ?? 0n) === 0n) return [];
    return [`${String(write.set.missing)} of level ${write.id} were told as missing`];
  });
}
