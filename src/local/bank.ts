/** Executes and simulates transactions on litesvm, and reports what they did. Knows no commitments and no history. */
import bs58 from "bs58";
import { LOOKUP_TABLE_PROGRAM, UPGRADEABLE_LOADER } from "../solana/programs.ts";
import { accountKeysOf, type AccountKeys } from "./account-keys.ts";
import { type AccountState, addressBytes, fromNative, toNative, withoutData } from "./account-state.ts";
import { SLOTS_PER_EPOCH } from "./clock-sysvar.ts";
import { genesisOf, type LateProgram } from "./late-programs.ts";
import type { Litesvm, NativeFailure, NativeInnerInstruction, NativeMeta, NativeBank } from "./litesvm.ts";
import type { DecodedTransaction } from "./transaction-bytes.ts";
import { transactionErrorJson, type TransactionErrorJson } from "./transaction-errors.ts";

const SLOT_HASHES_SYSVAR = "SysvarS1otHashes111111111111111111111111111";

/** The slot a transaction runs in, as programs see it. */
export interface SlotEnvironment {
  readonly slot: number;
  /** Unix milliseconds. */
  readonly time: number;
  /** The SlotHashes sysvar; costs enough to be computed on demand. */
  slotHashes(): { slot: bigint; hash: string }[];
}

/** The report of a run, landed or not. */
interface RunReport {
  readonly err: TransactionErrorJson | null;
  readonly logs: readonly string[];
  readonly computeUnits: bigint;
  /** Inner instructions, by the index of the calling instruction. */
  readonly innerInstructions: readonly (readonly InnerInstruction[])[];
  readonly returnData: { readonly program: string; readonly data: Uint8Array } | null;
}

/** An instruction called by a program; accounts are named by their indices. */
export interface InnerInstruction {
  readonly programIdIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/** An account of a transaction, before and after it; of a program that is only called, without its data. */
interface AccountChange {
  readonly address: string;
  readonly isWritable: boolean;
  readonly before: AccountState | null;
  readonly after: AccountState | null;
}

/** A transaction that was executed and charged its fee, whether it succeeded or not. */
export interface ExecutedTransaction extends RunReport {
  readonly keys: AccountKeys;
  /** Changes in the order of the transaction's account indices. */
  readonly accounts: readonly AccountChange[];
  /** Lamports. */
  readonly fee: bigint;
}

/** A simulated transaction. `after` holds the accounts it would have changed. */
export interface Simulation extends RunReport {
  readonly keys: AccountKeys;
  readonly after: ReadonlyMap<string, AccountState | null>;
}

/** The transaction machine of a local chain. */
export class Bank {
  readonly #litesvm: Litesvm;
  readonly #svm: NativeBank;
  /** Late programs that are not loaded yet. */
  readonly #late: Map<string, LateProgram>;
  /** Programs that transactions have named, without their data. */
  readonly #programs = new Map<string, AccountState>();

  constructor(litesvm: Litesvm) {
    const { bytes, late } = genesisOf(litesvm);
    this.#litesvm = litesvm;
    this.#svm = litesvm.LiteSvm.fromBytes(bytes);
    this.#late = new Map(late);
    // Blockhashes and duplicates are judged by the chain: litesvm knows one blockhash and compares signatures.
    this.#svm.setBlockhashCheck(false);
    this.#svm.setTransactionHistory(0n);
    this.#svm.withNativeMints();
    this.#svm.setEpochSchedule(
      new litesvm.EpochSchedule(BigInt(SLOTS_PER_EPOCH), BigInt(SLOTS_PER_EPOCH), false, 0n, 0n),
    );
  }

  /** The present account at the address. */
  account(address: string): AccountState | null {
    this.#touch(address);
    return fromNative(this.#svm.getAccount(addressBytes(address)));
  }

  /**
   * An account of a transaction before it runs. Programs are large and each transaction names some: litesvm copies one
   * whenever it is asked for, and the copy lies outside of what the garbage collector counts.
   */
  #accountOf(address: string, isWritable: boolean): AccountState | null {
    this.#touch(address);
    if (isWritable) this.#programs.delete(address);
    const known = this.#programs.get(address);
    if (known !== undefined) return known;
    const account = isWritable ? null : this.#svm.getAccount(addressBytes(address));
    if (account?.executable() !== true) return this.account(address);
    const program = withoutData(account);
    if (program !== null) this.#programs.set(address, program);
    return program;
  }

  /** The addresses of all accounts that the program owns now. */
  accountsOwnedBy(program: string): string[] {
    if (program === UPGRADEABLE_LOADER) for (const address of [...this.#late.keys()]) this.#touch(address);
    return this.#svm.getProgramAccounts(addressBytes(program)).map(({ address }) => bs58.encode(address));
  }

  /** Puts accounts in place without any program. */
  overwrite(states: ReadonlyMap<string, AccountState | null>): void {
    for (const [address, state] of states) {
      this.#touch(address);
      this.#programs.delete(address);
      this.#svm.setAccount(addressBytes(address), toNative(this.#litesvm, state));
    }
  }

  /** Lamports that keep an account of this data length from being refused. */
  rentFor(dataLength: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(dataLength));
  }

  /** Changes the price of storage, in lamports per byte. */
  setRent(lamportsPerByte: bigint): void {
    this.#svm.setRent(new this.#litesvm.Rent(lamportsPerByte, 1, 50));
  }

  /**
   * Executes a transaction. `undefined`: it did not land, because no account could be charged for it (no fee payer, an
   * unusable lookup table, …) or a verified signature is wrong; nothing changed.
   */
  execute(
    transaction: DecodedTransaction,
    environment: SlotEnvironment,
    { verifySignatures }: { readonly verifySignatures: boolean },
  ): ExecutedTransaction | undefined {
    this.#enter(transaction, environment);
    this.#svm.setSigverify(verifySignatures);
    const keys = accountKeysOf(transaction, (address) => this.account(address));
    const before = keys.all.map(({ address, isWritable }) => this.#accountOf(address, isWritable));
    const result = this.#svm.sendVersionedTransaction(transaction.bytes);
    const accounts = keys.all.map(({ address, isWritable }, index) => {
      const held = before[index] ?? null;
      return { address, isWritable, before: held, after: isWritable ? this.account(address) : held };
    });
    const fee = sum(before) - sum(accounts.map(({ after }) => after));
    if (this.#isFailure(result) && fee === 0n) return undefined;
    return { ...this.#report(result), keys, accounts, fee };
  }

  /**
   * Runs a transaction without lasting effects. `overrides` are accounts to see otherwise than they are now: the
   * state of an older slot.
   */
  simulate(
    transaction: DecodedTransaction,
    environment: SlotEnvironment,
    options: { verifySignatures: boolean; overrides: (address: string) => AccountState | null | undefined },
  ): Simulation {
    const seen = (address: string): AccountState | null => {
      const override = options.overrides(address);
      return override === undefined ? this.account(address) : override;
    };
    const keys = accountKeysOf(transaction, seen);
    const present = new Map<string, AccountState | null>();
    const past = new Map<string, AccountState | null>();
    for (const address of [...keys.all.map((key) => key.address), ...keys.lookupTables]) {
      this.#touch(address);
      const override = options.overrides(address);
      if (override === undefined) continue;
      present.set(address, this.account(address));
      past.set(address, override);
    }
    this.#enter(transaction, environment);
    this.#svm.setSigverify(options.verifySignatures);
    try {
      this.overwrite(past);
      const result = this.#svm.simulateVersionedTransaction(transaction.bytes);
      const after = new Map<string, AccountState | null>();
      if (!this.#isFailure(result)) {
        for (const entry of result.postAccounts()) {
          after.set(bs58.encode(entry.address), fromNative(entry.account()));
        }
      }
      return { ...this.#report(result), keys, after };
    } finally {
      this.overwrite(present);
    }
  }

  /** Before an account is read, set or run. */
  #touch(address: string): void {
    for (const [each, account] of this.#late.get(address) ?? []) {
      this.#late.delete(each);
      this.#svm.setAccount(addressBytes(each), account);
    }
  }

  #enter(transaction: DecodedTransaction, environment: SlotEnvironment): void {
    this.#setClock(environment);
    // 512 hashes are too dear to hand over for a transaction that cannot look at them.
    if (readsSlotHashes(transaction)) this.#svm.setSlotHashes(environment.slotHashes());
  }

  #setClock({ slot, time }: Pick<SlotEnvironment, "slot" | "time">): void {
    const clock = this.#svm.getClock();
    const epoch = BigInt(Math.floor(slot / SLOTS_PER_EPOCH));
    clock.slot = BigInt(slot);
    clock.epoch = epoch;
    clock.leaderScheduleEpoch = epoch + 1n;
    clock.unixTimestamp = BigInt(Math.floor(time / 1000));
    this.#svm.setClock(clock);
  }

  #report(result: NativeMeta | NativeFailure | { meta(): NativeMeta }): RunReport {
    const failed = this.#isFailure(result);
    const meta = "meta" in result ? result.meta() : result;
    const returned = meta.returnData();
    const hasReturned = returned.data().length > 0;
    return {
      err: failed ? transactionErrorJson(result.err()) : null,
      logs: meta.logs(),
      computeUnits: meta.computeUnitsConsumed(),
      innerInstructions: meta.innerInstructions().map((called) => called.map(plainInstruction)),
      returnData: hasReturned ? { program: bs58.encode(returned.programId()), data: returned.data() } : null,
    };
  }

  #isFailure(result: object): result is NativeFailure {
    return result instanceof this.#litesvm.FailedTransactionMetadata;
  }
}

/** litesvm's own objects hold on to memory of its own. */
function plainInstruction(called: NativeInnerInstruction): InnerInstruction {
  const instruction = called.instruction();
  return {
    programIdIndex: instruction.programIdIndex(),
    accounts: Uint8Array.from(instruction.accounts()),
    data: Uint8Array.from(instruction.data()),
    stackHeight: called.stackHeight(),
  };
}

function readsSlotHashes({ staticKeys, transaction }: DecodedTransaction): boolean {
  const isMentioned = staticKeys.includes(LOOKUP_TABLE_PROGRAM) || staticKeys.includes(SLOT_HASHES_SYSVAR);
  return isMentioned || transaction.message.addressTableLookups.length > 0;
}

function sum(states: readonly (AccountState | null)[]): bigint {
  return states.reduce((total, state) => total + (state?.lamports ?? 0n), 0n);
}
