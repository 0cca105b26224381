/** Parses an owner's accounts, some hundred in a turn of the event loop: strangers can make the list very long. */
import { z } from "zod";
import { expectShape } from "../endpoint-failure.ts";
import { accountShape, addressShape } from "./account.ts";

const SHAPE = z.array(z.object({ pubkey: addressShape, account: accountShape }));

/** An account and its address. */
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
