/** A program that does nothing, at any address: the smallest file that the chain's loader takes. */
import { addressBytes } from "../../../src/local/account-state.ts";
import { genesisOf, type LateProgram } from "../../../src/local/late-programs.ts";
import { loadLitesvm } from "../../../src/local/litesvm.ts";

const LOADER = "BPFLoader2111111111111111111111111111111111";
/** Two instructions: put 0 into the register of the result, and return. */
const CODE = Buffer.from("b7000000000000009500000000000000", "hex");
const NAMES = Buffer.from("\0.text\0.shstrtab\0");
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const SECTION_BYTES = 64;

/** Every local chain that is made from now on in this process has the program. */
export function installIdleProgram(address: string): void {
  const litesvm = loadLitesvm();
  const account = new litesvm.Account(1_000_000_000n, elf(), addressBytes(LOADER), true, 0n);
  const late = genesisOf(litesvm).late as Map<string, LateProgram>;
  late.set(address, new Map([[address, account]]));
}

/** A 64-bit ELF file for the machine BPF, with the sections `.text` and `.shstrtab`. */
function elf(): Buffer {
  const codeAt = HEADER_BYTES + SEGMENT_BYTES;
  const namesAt = codeAt + CODE.length;
  const sectionsAt = Math.ceil((namesAt + NAMES.length) / 8) * 8;
  const file = Buffer.alloc(sectionsAt + 3 * SECTION_BYTES);
  file.set(Buffer.from("7f454c46020101", "hex"));
  put16(file, 16, [3, 247]);
  put32(file, 20, [1]);
  put64(file, 24, [codeAt, HEADER_BYTES, sectionsAt]);
  put16(file, 52, [HEADER_BYTES, SEGMENT_BYTES, 1, SECTION_BYTES, 3, 2]);
  put32(file, HEADER_BYTES, [1, 5]);
  put64(file, HEADER_BYTES + 8, [codeAt, codeAt, codeAt, CODE.length, CODE.length, 4_096]);
  file.set(CODE, codeAt);
  file.set(NAMES, namesAt);
  put32(file, sectionsAt + SECTION_BYTES, [1, 1]);
  put64(file, sectionsAt + SECTION_BYTES + 8, [6, codeAt, codeAt, CODE.length, 0, 1]);
  put32(file, sectionsAt + 2 * SECTION_BYTES, [NAMES.indexOf(".shstrtab"), 3]);
  put64(file, sectionsAt + 2 * SECTION_BYTES + 8, [0, 0, namesAt, NAMES.length, 0, 1]);
  return file;
}

function put16(file: Buffer, at: number, values: readonly number[]): void {
  values.forEach((value, index) => file.writeUInt16LE(value, at + 2 * index));
}

function put32(file: Buffer, at: number, values: readonly number[]): void {
  values.forEach((value, index) => file.writeUInt32LE(value, at + 4 * index));
}

function put64(file: Buffer, at: number, values: readonly number[]): void {
  values.forEach((value, index) => file.writeBigUInt64LE(BigInt(value), at + 8 * index));
}
