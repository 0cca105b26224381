/** The instructions that make, replace, follow and close markers. */
import {
  createApproveInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createRevokeInstruction,
} from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { SOL_MINT, type Address } from "../../address.ts";
import { TOKEN_ACCOUNT_BYTES, type MoveOf } from "../../ledger/routing.ts";
import { TOKEN_PROGRAM } from "../programs.ts";
import { markerAddress } from "./marker-address.ts";
import type { StepInstruction } from "./planned-instruction.ts";

// The smallest allowance there is. No key can sign for the delegate's address, so nothing is ever moved by it.
const ALLOWANCE = 1;

/** Instructions that make a marker, at the cost of `rent` lamports. */
export function mark({ base, seed, payer }: MoveOf<"mark">, rent: bigint): readonly StepInstruction[] {
  const owner = new PublicKey(base);
  const marker = keyOf(base, seed);
  const tokenProgram = new PublicKey(TOKEN_PROGRAM);
  return [
    // Unlike CreateAccountWithSeed it works where lamports are there already: a stranger can send some.
    [
      "allocate",
      SystemProgram.allocate({
        accountPubkey: marker,
        basePubkey: owner,
        seed,
        space: TOKEN_ACCOUNT_BYTES,
        programId: tokenProgram,
      }),
    ],
    ["fund", SystemProgram.transfer({ fromPubkey: new PublicKey(payer), toPubkey: marker, lamports: rent })],
    // Wrapped SOL has no issuer who could freeze it.
    ["open", createInitializeAccount3Instruction(marker, new PublicKey(SOL_MINT), owner, tokenProgram)],
  ];
}

/** Both markers at the cost of `rent` lamports each, the first one naming the second. Throws `RangeError` for equal seeds. */
export function replace(
  { base, seed, plan, payer }: MoveOf<"replace">,
  rent: bigint,
): readonly StepInstruction[] {
  if (seed === plan) throw new RangeError("a plan needs another seed than what it replaces");
  const replaced = keyOf(base, seed);
  const approve = createApproveInstruction(replaced, keyOf(base, plan), new PublicKey(base), ALLOWANCE);
  return [
    ...mark({ does: "mark", base, seed, payer }, rent),
    ["approve", approve],
    ...mark({ does: "mark", base, seed: plan, payer }, rent),
  ];
}

/** Takes away a delegate that no plan's marker has: it fails where there is no such marker, and changes nothing else. */
export function follow({ base, plan }: MoveOf<"follow">): readonly StepInstruction[] {
  return [["revoke", createRevokeInstruction(keyOf(base, plan), new PublicKey(base))]];
}

/** Instructions that close a marker: all its lamports go to `to`, including lamports sent by strangers. */
export function unmark({ base, seed, to }: MoveOf<"unmark">): readonly StepInstruction[] {
  const close = createCloseAccountInstruction(keyOf(base, seed), new PublicKey(to), new PublicKey(base));
  return [["unmark", close]];
}

function keyOf(base: Address, seed: string): PublicKey {
  return new PublicKey(markerAddress(base, seed));
}
