/** An account as a node tells it. */
import { z } from "zod";
import { parseAddress, type Address } from "../../core/address.ts";
import { SYSTEM_PROGRAM, SYSVAR_OWNER, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { expectShape } from "../endpoint-failure.ts";

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

const SHAPE = z.array(z.object({ pubkey: addressShape, account: accountShape }));

export type OwnedAccount = z.output<typeof SHAPE>[number];

/** Some milliseconds of work. */
export const ACCOUNTS_PER_TURN = 250;

/** Reads accounts in their JSON form. Throws `EndpointFailure` for an account of a different shape. */
export async function readOwnedAccounts(told: readonly unknown[]): Promise<readonly OwnedAccount[]> {
  const read: OwnedAccount[] = [];
  for (let start = 0; start < told.length; start += ACCOUNTS_PER_TURN) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve));
    const accounts = SHAPE.safeParse(told.slice(start, start + ACCOUNTS_PER_TURN));
    expectShape(accounts.success, "getTokenAccountsByOwner");
    read.push(...accounts.data);
  }
  return read;
}
