/** How instructions are described, so that a program's instructions are a table. */
import type { ByteReader } from "../../byte-reader.ts";

/** An instruction with its indices resolved. */
export interface Instruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** One instruction in words. */
export interface Parsed {
  readonly type: string;
  readonly info: object;
}

/** The description of one instruction of a program. */
export interface InstructionLayout {
  readonly type: string;
  /** The names of its accounts, in order. */
  readonly accounts: readonly string[];
  /** The fields of its data, behind the number of the instruction. */
  readonly fields?: (data: ByteReader) => object;
  /** The account behind the others is who allows it: alone, or a multisig followed by its signers. */
  readonly authority?: { readonly alone: string; readonly multisig: string };
}

/** Puts an instruction into words. Throws when it has fewer accounts or bytes than its layout. */
export function applyLayout(
  layout: InstructionLayout,
  accounts: readonly string[],
  data: ByteReader,
): Parsed {
  const { type, authority } = layout;
  const info = { ...named(layout.accounts, accounts), ...layout.fields?.(data) };
  if (authority === undefined) return { type, info };
  const [holder, ...signers] = accounts.slice(layout.accounts.length);
  if (holder === undefined) throw new RangeError("An account is missing.");
  const by = signers.length === 0 ? { [authority.alone]: holder } : { [authority.multisig]: holder, signers };
  return { type, info: { ...info, ...by } };
}

function named(names: readonly string[], accounts: readonly string[]): object {
  if (accounts.length < names.length) throw new RangeError("An account is missing.");
  return Object.fromEntries(names.map((name, index) => [name, accounts[index]]));
}
