/** Checks that the service's own wallets hold enough. */
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { PurseCommands, PurseBody } from "../../payments/purses/purses.ts";
import { fine, warning, type Finding } from "./finding.ts";

/** One finding for each purse and asset; no finding when private mode and swaps are off. */
export async function checkPurses(operator: PurseCommands): Promise<readonly Finding[]> {
  try {
    return (await operator.purses()).map(checkPurse);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    return [
      warning("purses", { found: "cannot be read", todo: "too few endpoints answer: see the endpoints" }),
    ];
  }
}

function checkPurse({ purse, address, asset, balance, reserved, lowBelow, isLow }: PurseBody): Finding {
  const check = `${purse} ${asset}`;
  const found = `${balance} ${asset}, ${reserved} of it promised`;
  if (!isLow) return fine(check, found);
  return warning(check, {
    found: `${found}: less than ${lowBelow ?? "0"} is free`,
    todo: `send ${asset} to ${address}`,
  });
}
