/** Sends and payrolls that their sender signs. */
import type { CreatedTransferBody } from "../frame/signed/accept-signed.ts";
import type { WayModule } from "../frame/way-module.ts";
import { acceptTransfer } from "./accept-transfer.ts";
import { transferQuotes } from "./quote-transfer.ts";

export const wallet: WayModule<CreatedTransferBody> = {
  name: "wallet",
  ways: (deps) => [{ ...transferQuotes(deps), accept: (request) => acceptTransfer(deps, request) }],
};
