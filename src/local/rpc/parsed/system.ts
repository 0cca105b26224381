/** The System program's instructions in words. */
import { ByteReader } from "../../byte-reader.ts";
import { applyLayout, type Instruction, type InstructionLayout, type Parsed } from "./layout.ts";

/** A seed as the System program writes it. */
function seed(data: ByteReader): string {
  return data.text(data.u64());
}

/** The index is the number of the instruction. */
const LAYOUTS: readonly InstructionLayout[] = [
  {
    type: "createAccount",
    accounts: ["source", "newAccount"],
    fields: (data) => ({ lamports: data.u64(), space: data.u64(), owner: data.address() }),
  },
  { type: "assign", accounts: ["account"], fields: (data) => ({ owner: data.address() }) },
  {
    type: "transfer",
    accounts: ["source", "destination"],
    fields: (data) => ({ lamports: data.u64() }),
  },
  {
    type: "createAccountWithSeed",
    accounts: ["source", "newAccount"],
    fields: (data) => ({
      base: data.address(),
      seed: seed(data),
      lamports: data.u64(),
      space: data.u64(),
      owner: data.address(),
    }),
  },
  { type: "advanceNonce", accounts: ["nonceAccount", "recentBlockhashesSysvar", "nonceAuthority"] },
  {
    type: "withdrawFromNonce",
    accounts: ["nonceAccount", "destination", "recentBlockhashesSysvar", "rentSysvar", "nonceAuthority"],
    fields: (data) => ({ lamports: data.u64() }),
  },
  {
    type: "initializeNonce",
    accounts: ["nonceAccount", "recentBlockhashesSysvar", "rentSysvar"],
    fields: (data) => ({ nonceAuthority: data.address() }),
  },
  {
    type: "authorizeNonce",
    accounts: ["nonceAccount", "nonceAuthority"],
    fields: (data) => ({ newAuthorized: data.address() }),
  },
  { type: "allocate", accounts: ["account"], fields: (data) => ({ space: data.u64() }) },
  {
    type: "allocateWithSeed",
    accounts: ["account"],
    fields: (data) => ({ base: data.address(), seed: seed(data), space: data.u64(), owner: data.address() }),
  },
  {
    type: "assignWithSeed",
    accounts: ["account"],
    fields: (data) => ({ base: data.address(), seed: seed(data), owner: data.address() }),
  },
  {
    type: "transferWithSeed",
    accounts: ["source", "sourceBase", "destination"],
    fields: (data) => ({ lamports: data.u64(), sourceSeed: seed(data), sourceOwner: data.address() }),
  },
  { type: "upgradeNonce", accounts: ["nonceAccount"] },
];

/** An instruction of the System program in words. Throws when it is none. */
export function parseSystem({ accounts, data }: Instruction): Parsed {
  const reader = new ByteReader(data);
  const layout = LAYOUTS[reader.u32()];
  if (layout === undefined) throw new RangeError("The System program has no such instruction.");
  return applyLayout(layout, accounts, reader);
}
