/** An account as a node tells it. */
import { z } from "zod";
import { parseAddress, type Address } from "../../address.ts";
import { SYSTEM_PROGRAM, SYSVAR_OWNER, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";

/** An account at an address; a slice cuts its bytes. */
export interface Account {
  readonly executable: boolean;
  /** Above 2^53 (9 million SOL) the last digit may be off: nodes write a JSON number. */
  readonly lamports: number;
  /** The program that may change it. */
  readonly owner: Address;
  readonly data: Buffer;
}

// Nearly every account is owned by one of these, and to check an address costs more than to read the rest of the account.
const FREQUENT_OWNERS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  SYSVAR_OWNER,
]);

/** An amount in an answer: any u64, also above 2^53, where the last digit may be off. */
export const amountShape = z.number().nonnegative().refine(Number.isInteger);

/** An address in an answer. */
export const addressShape = z.custom<Address>(
  (told) => typeof told === "string" && (FREQUENT_OWNERS.has(told) || "address" in parseAddress(told)),
);

/** An account in an answer, asked for in base64. */
export const accountShape = z
  .object({
    executable: z.boolean(),
    lamports: amountShape,
    owner: addressShape,
    data: z.tuple([z.string(), z.literal("base64")]),
  })
  .transform(({ executable, lamports, owner, data: [content] }): Account => ({
    executable,
    lamports,
    owner,
    data: Buffer.from(content, "base64"),
  }));
