/** Finds and loads the native litesvm package of this machine, and types the part of it that the chain uses. */
import { requireBeside } from "../core/require-beside.ts";

/** The version whose results the journal's replay relies on. */
const LITESVM_VERSION = "1.5.0";

/** An account as litesvm holds it. */
export interface NativeAccount {
  lamports(): bigint;
  data(): Uint8Array;
  owner(): Uint8Array;
  executable(): boolean;
}

/** An instruction called by a program. */
export interface NativeInnerInstruction {
  instruction(): { programIdIndex(): number; accounts(): Uint8Array; data(): Uint8Array };
  stackHeight(): number;
}

/** The metadata of a transaction besides account changes. */
export interface NativeMeta {
  logs(): string[];
  innerInstructions(): NativeInnerInstruction[][];
  computeUnitsConsumed(): bigint;
  returnData(): { programId(): Uint8Array; data(): Uint8Array };
}

/** An error of one instruction: a bare number is the index of a variant without fields. */
export type NativeInstructionError = number | { readonly code: number } | { readonly msg: string };

/** An error of a transaction: a bare number is the index of a variant without fields. */
export type NativeTransactionError =
  | number
  | { readonly index: number; err(): NativeInstructionError }
  | { readonly index: number }
  | { readonly accountIndex: number };

/** The result of a transaction that failed. */
export interface NativeFailure {
  err(): NativeTransactionError;
  meta(): NativeMeta;
}

/** The result of a simulation that succeeded. */
interface NativeSimulation {
  meta(): NativeMeta;
  postAccounts(): { readonly address: Uint8Array; account(): NativeAccount }[];
}

interface NativeClock {
  slot: bigint;
  epoch: bigint;
  leaderScheduleEpoch: bigint;
  unixTimestamp: bigint;
}

/** The transaction machine. Bytes that are no transaction abort the process: see transaction-bytes.ts. */
export interface NativeBank {
  setSigverify(on: boolean): void;
  setBlockhashCheck(on: boolean): void;
  setTransactionHistory(capacity: bigint): void;
  withNativeMints(): void;
  minimumBalanceForRentExemption(dataLength: bigint): bigint;
  setRent(rent: object): void;
  getAccount(address: Uint8Array): NativeAccount | null;
  setAccount(address: Uint8Array, account: NativeAccount): void;
  getProgramAccounts(program: Uint8Array): { readonly address: Uint8Array; account(): NativeAccount }[];
  /** Takes legacy transactions too. */
  sendVersionedTransaction(bytes: Uint8Array): NativeMeta | NativeFailure;
  simulateVersionedTransaction(bytes: Uint8Array): NativeSimulation | NativeFailure;
  getClock(): NativeClock;
  setClock(clock: NativeClock): void;
  setEpochSchedule(schedule: object): void;
  setSlotHashes(hashes: { slot: bigint; hash: string }[]): void;
  toBytes(): Uint8Array;
}

/** Exports of the native package. */
export interface Litesvm {
  readonly LiteSvm: { new (): NativeBank; fromBytes(bytes: Uint8Array): NativeBank };
  readonly Account: new (
    lamports: bigint,
    data: Uint8Array,
    owner: Uint8Array,
    executable: boolean,
    rentEpoch: bigint,
  ) => NativeAccount;
  readonly Rent: new (lamportsPerByte: bigint, exemptionThreshold: number, burnPercent: number) => object;
  readonly EpochSchedule: new (
    slotsPerEpoch: bigint,
    leaderScheduleSlotOffset: bigint,
    warmup: boolean,
    firstNormalEpoch: bigint,
    firstNormalSlot: bigint,
  ) => object;
  readonly FailedTransactionMetadata: new () => NativeFailure;
}

/** The machine a native package is chosen for; `libc` matters on Linux only. */
interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc: "gnu" | "musl";
}

const PUBLISHED = new Set(["linux-x64-gnu", "linux-x64-musl", "linux-arm64-gnu", "linux-arm64-musl"]);
const PUBLISHED_DARWIN = new Set(["darwin-x64", "darwin-arm64"]);

/** The npm package with litesvm's native binding for `platform`. Throws a sentence where none is published. */
export function nativePackageName(platform: Platform): string {
  const target = `${platform.os}-${platform.cpu}`;
  if (PUBLISHED_DARWIN.has(target)) return `litesvm-${target}`;
  if (PUBLISHED.has(`${target}-${platform.libc}`)) return `litesvm-${target}-${platform.libc}`;
  throw new Error(
    `The local chain has no build for ${target}: litesvm is published for Linux and macOS on x64 and arm64.`,
  );
}

/** The machine this process runs on. */
function thisPlatform(): Platform {
  return { os: process.platform, cpu: process.arch, libc: usesGlibc() ? "gnu" : "musl" };
}

/** The part of `process.report` that @types/node does not have yet. */
interface ProcessReport {
  excludeNetwork: boolean;
  getReport(): { readonly header: { readonly glibcVersionRuntime?: string } };
}

function usesGlibc(): boolean {
  if (process.platform !== "linux") return true;
  // Without this, the report looks up the name of every open socket's peer, which can take seconds.
  const { report } = process as unknown as { report: ProcessReport };
  report.excludeNetwork = true;
  return report.getReport().header.glibcVersionRuntime !== undefined;
}

let found: string | undefined;

/** Found once: the report of the process takes 10 ms. */
function packageHere(): string {
  found ??= nativePackageName(thisPlatform());
  return found;
}

/**
 * Loads litesvm's native package directly: its JavaScript wrapper would bring in a second Solana SDK (140 MB).
 * Throws one sentence that says what to do when the package is missing or does not load. `load` is for tests.
 */
export function loadLitesvm(
  packageName: string = packageHere(),
  load: (name: string) => unknown = requireBeside(),
): Litesvm {
  try {
    return load(packageName) as Litesvm;
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
    const problem = missing ? "is not installed" : `does not load (${(cause as Error).message})`;
    throw new Error(
      `The local chain needs the package ${packageName}, which ${problem}: ` +
        `run "npm install --save-optional --save-exact ${packageName}@${LITESVM_VERSION}".`,
      { cause },
    );
  }
}
