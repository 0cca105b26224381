/** `jsonParsed`: instructions in words, where the program is one whose instructions are known. */
import bs58 from "bs58";
import { ASSOCIATED_TOKEN_PROGRAM, isTokenProgram, SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import { ByteReader, utf8 } from "../../byte-reader.ts";
import { isMemoProgram } from "../../memo.ts";
import { applyLayout, type Instruction, type InstructionLayout, type Parsed } from "./layout.ts";
import { parseSystem } from "./system.ts";
import { parseToken } from "./token.ts";

const NEW_ATA = ["source", "account", "wallet", "mint", "systemProgram", "tokenProgram"];

/** The associated token account program's instructions, by their number. */
const ATA_LAYOUTS: readonly InstructionLayout[] = [
  { type: "create", accounts: NEW_ATA },
  { type: "createIdempotent", accounts: NEW_ATA },
  {
    type: "recoverNested",
    accounts: [
      "nestedSource",
      "nestedMint",
      "destination",
      "nestedOwner",
      "ownerMint",
      "wallet",
      "tokenProgram",
    ],
  },
];

/** An instruction in words, or as a node leaves those of other programs: accounts and bytes. */
export function describeInstruction(instruction: Instruction, stackHeight: number): object {
  const { programId, accounts, data } = instruction;
  const parsed = parse(instruction);
  return parsed === undefined
    ? { programId, accounts, data: bs58.encode(data), stackHeight }
    : { ...parsed, programId, stackHeight };
}

function parse(instruction: Instruction): { program: string; parsed: Parsed | string } | undefined {
  const { programId } = instruction;
  try {
    if (programId === SYSTEM_PROGRAM) return { program: "system", parsed: parseSystem(instruction) };
    // Nodes call the program of both token programs so.
    if (isTokenProgram(programId)) return { program: "spl-token", parsed: parseToken(instruction) };
    if (isMemoProgram(programId)) return { program: "spl-memo", parsed: utf8(instruction.data) };
    if (programId !== ASSOCIATED_TOKEN_PROGRAM) return undefined;
    return { program: "spl-associated-token-account", parsed: parseAssociatedToken(instruction) };
  } catch {
    // Not in a form that the program would understand, or a newer one.
    return undefined;
  }
}

function parseAssociatedToken({ accounts, data }: Instruction): Parsed {
  // The oldest form of `create` has no data at all.
  const layout = ATA_LAYOUTS[data[0] ?? 0];
  if (layout === undefined) throw new RangeError("There is no such instruction.");
  return applyLayout(layout, accounts, new ByteReader(data.subarray(1)));
}
