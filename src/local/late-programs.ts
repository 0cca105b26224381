/**
 * The accounts that a chain begins with. Programs that few transactions use come when they are first touched: to verify
 * their code takes three quarters of the start of a chain.
 */
import bs58 from "bs58";
import { LOOKUP_TABLE_PROGRAM, TOKEN_2022_PROGRAM } from "../solana/programs.ts";
import { ABSENT, addressBytes, toNative } from "./account-state.ts";
import type { Litesvm, NativeAccount } from "./litesvm.ts";

const STAKE_PROGRAM = "Stake11111111111111111111111111111111111111";
const LATE = [TOKEN_2022_PROGRAM, LOOKUP_TABLE_PROGRAM, STAKE_PROGRAM];

/** An account of an upgradeable program holds a tag of four bytes, then the address of the account with the code. */
const CODE_ADDRESS_OFFSET = 4;

/** A program's two accounts, the code account first: litesvm looks up the code when it is given the program. */
export type LateProgram = ReadonlyMap<string, NativeAccount>;

/** The start state of a chain. */
interface Genesis {
  /** For `LiteSvm.fromBytes`: everything but the late programs. */
  readonly bytes: Uint8Array;
  /** Late programs, under the address of either account. */
  readonly late: ReadonlyMap<string, LateProgram>;
}

const made = new WeakMap<Litesvm, Genesis>();

/** Made once: all chains begin alike. */
export function genesisOf(litesvm: Litesvm): Genesis {
  const genesis = made.get(litesvm) ?? makeGenesis(litesvm);
  made.set(litesvm, genesis);
  return genesis;
}

function makeGenesis(litesvm: Litesvm): Genesis {
  const svm = new litesvm.LiteSvm();
  const late = new Map<string, LateProgram>();
  for (const program of LATE) {
    const account = svm.getAccount(addressBytes(program));
    const code = bs58.encode(account?.data().subarray(CODE_ADDRESS_OFFSET) ?? new Uint8Array());
    const codeAccount = svm.getAccount(addressBytes(code));
    if (account === null || codeAccount === null) throw new Error(`litesvm comes without ${program}`);
    const accounts = new Map([
      [code, codeAccount],
      [program, account],
    ]);
    for (const address of accounts.keys()) {
      late.set(address, accounts);
      svm.setAccount(addressBytes(address), toNative(litesvm, ABSENT));
    }
  }
  return { bytes: svm.toBytes(), late };
}
