/** The chain itself: what landed, in which slot, seen from which commitment, and written to the journal first. */
import { AccountHistory } from "./account-history.ts";
import type { AccountState } from "./account-state.ts";
import { Bank, type ExecutedTransaction, type Simulation, type SlotEnvironment } from "./bank.ts";
import { BlockhashList } from "./blockhash-list.ts";
import { CLOCK_SYSVAR } from "../solana/programs.ts";
import { clockSysvar } from "./clock-sysvar.ts";
import { genesisAccounts, genesisHash, type GenesisKeys, genesisKeys } from "./genesis.ts";
import type { GenesisEntry, JournalEntry } from "./journal.ts";
import { SlotJournal, type SlotJournalOptions } from "./slot-journal.ts";
import type { Litesvm } from "./litesvm.ts";
import { tokenBalances } from "./token-balances.ts";
import { TokenOwnerIndex } from "./token-owner-index.ts";
import { type DecodedTransaction, decodeTransaction } from "./transaction-bytes.ts";
import { TransactionHistory, type LandedTransaction } from "./transaction-history.ts";

/** Solana's three degrees of certainty. */
export type Commitment = "processed" | "confirmed" | "finalized";

/** The number of slots after which a block counts as confirmed and as finalized. */
interface CommitmentDepths {
  readonly confirmedAfter: number;
  readonly finalizedAfter: number;
}

/** The accounts as they were at the end of a slot. */
export interface View {
  readonly slot: number;
  account(address: string): AccountState | null;
}

/** The result of a submission: the bytes landed now, had landed before, or never will land. */
type Submission = "landed" | "duplicate" | "dropped";

/** How far behind the finalized slot a view may lie: a node that lags that much has long been declared unhealthy. */
const HISTORY_SLOTS = 300;

/** One SOL a byte: the rent minimum of the largest account still fits an unsigned 64-bit number. */
const MAX_LAMPORTS_PER_BYTE = 1_000_000_000n;

/** Options of a chain's state. */
interface ChainStateOptions extends SlotJournalOptions {
  readonly litesvm: Litesvm;
  readonly depths: CommitmentDepths;
}

/** A transaction at its landing, when its accounts are still at hand. */
type JustLanded = LandedTransaction & Pick<ExecutedTransaction, "accounts">;

/** Executes transactions in slots and answers what the chain knows. */
export class ChainState {
  readonly genesis: GenesisEntry;
  readonly genesisHash: string;
  readonly keys: GenesisKeys;
  readonly log = new TransactionHistory();
  readonly tokenOwners = new TokenOwnerIndex();
  readonly blockhashes: BlockhashList;
  readonly #bank: Bank;
  readonly #slots: SlotJournal;
  readonly #history = new AccountHistory();
  readonly #depths: CommitmentDepths;
  /** From a wallet's name to the transaction that founded it. */
  readonly #wallets = new Map<string, string>();
  readonly #observers: (() => void)[] = [];

  /** Replays the journal. Throws when its transactions do not land as they did. */
  constructor(options: ChainStateOptions) {
    const { genesis, journal } = options;
    this.genesis = genesis;
    this.genesisHash = genesisHash(genesis);
    this.keys = genesisKeys(genesis.seed);
    this.blockhashes = new BlockhashList(this.genesisHash);
    this.#bank = new Bank(options.litesvm);
    this.#bank.overwrite(genesisAccounts(this.keys, (length) => this.#bank.rentFor(length)));
    this.#slots = new SlotJournal(options);
    this.#depths = options.depths;
    for (const entry of journal.entries()) this.#replay(entry);
    this.#slots.start(genesis);
  }

  /** Duration of a slot in milliseconds, 0 when slots pass by `advance` only. */
  get slotMs(): number {
    return this.#slots.slotMs;
  }

  /** Calls `observer` whenever a transaction landed, slots were advanced or blocks abandoned. It must not throw. */
  observe(observer: () => void): void {
    this.#observers.push(observer);
  }

  /** The slot that transactions are executed in now. A slot that was answered survives the death of the process. */
  currentSlot(): number {
    return this.#slots.current();
  }

  /** When `slot` began, in Unix milliseconds. */
  timeOf(slot: number): number {
    return this.#slots.timeOf(slot);
  }

  /** The newest slot with this commitment, for a client that knows the chain up to `head`. */
  slotAt(commitment: Commitment, head: number): number {
    const depth = {
      processed: 0,
      confirmed: this.#depths.confirmedAfter,
      finalized: this.#depths.finalizedAfter,
    };
    return head - depth[commitment];
  }

  /** The accounts at the end of `slot`; the present ones for the current slot. */
  viewAt(slot: number): View {
    return {
      slot,
      account: (address) => {
        // litesvm's clock has the slot of its last run, even of a simulated one.
        if (address === CLOCK_SYSVAR) return clockSysvar(slot, this);
        const past = this.#history.asOf(slot, address);
        return past === undefined ? this.#bank.account(address) : past;
      },
    };
  }

  /** Addresses that a program owns at the end of `view`'s slot. */
  accountsOwnedBy(program: string, view: View): string[] {
    const candidates = new Set([
      ...this.#bank.accountsOwnedBy(program),
      ...this.#history.changedSince(view.slot).keys(),
    ]);
    return [...candidates].filter((address) => view.account(address)?.owner === program);
  }

  /** Lamports that make an account of this data length rent exempt. */
  rentFor(dataLength: number): bigint {
    return this.#bank.rentFor(dataLength);
  }

  /** Runs a transaction on the accounts of `view` without lasting effects, with any blockhash. */
  simulate(transaction: DecodedTransaction, view: View, options: { verifySignatures: boolean }): Simulation {
    return this.#bank.simulate(transaction, this.#environment(view.slot), {
      ...options,
      overrides: (address) => this.#history.asOf(view.slot, address),
    });
  }

  /**
   * Executes a transaction in the current slot. Once it returns, what landed survives the death of the process;
   * when the journal cannot be written, nothing happened and the error is thrown. `wallet` names the wallet that
   * the transaction founds.
   */
  submit(transaction: DecodedTransaction, wallet?: string): Submission {
    const slot = this.currentSlot();
    if (this.log.withMessage(transaction.messageHash) !== undefined) return "duplicate";
    if (!this.blockhashes.isAccepted(transaction.transaction.message.recentBlockhash, slot)) return "dropped";
    const execution = this.#bank.execute(transaction, this.#environment(slot), { verifySignatures: true });
    if (execution === undefined) return "dropped";
    const bytes = Buffer.from(transaction.bytes).toString("base64");
    try {
      this.#slots.append({ kind: "transaction", slot, bytes, ...(wallet === undefined ? {} : { wallet }) });
    } catch (error) {
      const changed = execution.accounts.filter(({ isWritable }) => isWritable);
      this.#bank.overwrite(new Map(changed.map(({ address, before }) => [address, before])));
      throw error;
    }
    this.#slots.reach(slot);
    this.#landed({ ...transaction, ...execution, ...this.#placement(slot, execution) }, wallet);
    this.#announce();
    return "landed";
  }

  /** Names of the wallets founded so far; wallets whose founding transaction was rolled back are left out. */
  walletNames(): string[] {
    const founded = [...this.#wallets].filter(
      ([, founding]) => this.log.withSignature(founding) !== undefined,
    );
    return founded.map(([name]) => name);
  }

  /** Lets `slots` slots pass at once. */
  advance(slots: number): void {
    this.#slots.advance(slots);
    this.#announce();
  }

  /** Abandons all blocks after `toSlot`, as when the cluster agrees on another fork. Finalized ones stay. */
  rollback(toSlot: number): void {
    const slot = this.currentSlot();
    if (!Number.isSafeInteger(toSlot) || toSlot > slot || toSlot < this.slotAt("finalized", slot)) {
      throw new RangeError(
        `The chain forks between the finalized slot and the current one, not at ${toSlot}.`,
      );
    }
    this.#slots.append({ kind: "rollback", slot, toSlot });
    this.#abandonAfter(toSlot);
    this.#announce();
  }

  /** Changes the price of storage, in lamports per byte. */
  setRent(lamportsPerByte: bigint): void {
    if (lamportsPerByte < 0n || lamportsPerByte > MAX_LAMPORTS_PER_BYTE) {
      throw new RangeError(`Rent is 0 to ${MAX_LAMPORTS_PER_BYTE} lamports per byte.`);
    }
    this.#slots.append({
      kind: "rent",
      slot: this.currentSlot(),
      lamportsPerByte: lamportsPerByte.toString(),
    });
    this.#bank.setRent(lamportsPerByte);
  }

  /** Closes the journal and the history. */
  close(): void {
    this.log.close();
    this.#slots.close();
  }

  #announce(): void {
    for (const observer of this.#observers) observer();
  }

  #environment(slot: number): SlotEnvironment {
    return {
      slot,
      time: this.#slots.timeOf(slot),
      slotHashes: () => this.blockhashes.slotHashesBefore(slot),
    };
  }

  #placement(
    slot: number,
    { accounts }: Pick<ExecutedTransaction, "accounts">,
  ): Pick<LandedTransaction, "slot" | "time" | "position" | "balances" | "tokenBalances"> {
    const mint = (address: string): AccountState | null => this.#bank.account(address);
    const before = accounts.map((change) => change.before);
    const after = accounts.map((change) => change.after);
    return {
      slot,
      time: this.#slots.timeOf(slot),
      position: this.log.length,
      balances: { before: before.map(lamportsOf), after: after.map(lamportsOf) },
      tokenBalances: { before: tokenBalances(before, mint), after: tokenBalances(after, mint) },
    };
  }

  #landed({ accounts, ...landed }: JustLanded, wallet: string | undefined): void {
    for (const { address, isWritable, before, after } of accounts) {
      if (!isWritable) continue;
      this.#history.note(landed.slot, address, before);
      this.tokenOwners.note(address, after);
    }
    this.#history.forgetUpTo(this.slotAt("finalized", landed.slot) - HISTORY_SLOTS);
    this.log.add(landed);
    if (wallet !== undefined && landed.err === null) this.#wallets.set(wallet, landed.signature);
  }

  #abandonAfter(slot: number): void {
    this.#bank.overwrite(this.#history.changedSince(slot));
    this.#history.forgetAfter(slot);
    this.log.forgetAfter(slot);
    this.blockhashes.forkAfter(slot);
  }

  #replay(entry: JournalEntry): void {
    switch (entry.kind) {
      case "mark":
        return this.#slots.replayMark(entry);
      case "seen":
        return this.#slots.replaySeen(entry.slot);
      case "rent":
        return this.#bank.setRent(BigInt(entry.lamportsPerByte));
      case "rollback":
        return this.#abandonAfter(entry.toSlot);
      case "transaction":
        return this.#replayTransaction(entry.slot, Buffer.from(entry.bytes, "base64"), entry.wallet);
    }
  }

  #replayTransaction(slot: number, bytes: Uint8Array, wallet: string | undefined): void {
    const transaction = decodeTransaction(bytes);
    this.#slots.reach(slot);
    const verified = { verifySignatures: false };
    const execution = this.#bank.execute(transaction, this.#environment(slot), verified);
    if (execution === undefined) {
      throw new Error(`The journal does not replay: transaction ${transaction.signature} no longer lands.`);
    }
    this.#landed({ ...transaction, ...execution, ...this.#placement(slot, execution) }, wallet);
  }
}

function lamportsOf(account: AccountState | null): bigint {
  return account?.lamports ?? 0n;
}
