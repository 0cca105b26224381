/** Address lookup tables in words. */
import { AddressLookupTableAccount } from "@solana/web3.js";
import type { AccountState } from "../../account-state.ts";
import type { Parsed } from "./layout.ts";

/** The table in `account`, if it is one. Amounts beyond 2^53 are written as strings, as nodes do. */
export function parsedLookupTable({ data }: AccountState): Parsed | undefined {
  try {
    const table = AddressLookupTableAccount.deserialize(data);
    const { deactivationSlot, lastExtendedSlot, lastExtendedSlotStartIndex, authority, addresses } = table;
    return {
      type: "lookupTable",
      info: {
        deactivationSlot: deactivationSlot.toString(),
        lastExtendedSlot: lastExtendedSlot.toString(),
        lastExtendedSlotStartIndex,
        ...(authority === undefined ? {} : { authority: authority.toBase58() }),
        addresses: addresses.map((address) => address.toBase58()),
      },
    };
  } catch {
    return undefined;
  }
}
