/** Where tokens are kept, by our own derivation and by the library's. */
import { getAssociatedTokenAddressSync } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { associatedTokenAccount } from "../../src/solana/derived-addresses.ts";
import { PROGRAM_ID } from "../../src/solana/programs.ts";

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes));

test("an associated token account is where the chain's own library says, for any owner, mint and program", () => {
  fc.assert(
    fc.property(key, key, fc.constantFrom("token", "token-2022"), (owner, mint, program) => {
      const theirs = getAssociatedTokenAddressSync(mint, owner, true, new PublicKey(PROGRAM_ID[program]));
      const ours = (): string => associatedTokenAccount(owner.toBase58(), mint.toBase58(), program);
      expect([ours(), ours()]).toEqual([theirs.toBase58(), theirs.toBase58()]);
    }),
  );
});
