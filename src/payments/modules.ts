/**
 * The modules of the payment service. A module has one line in each list here: `npm run without -- swap/jupiter` takes it away,
 * and the others cannot go yet. Private mode is put together by the service itself.
 */
import type { CreatedTransferBody } from "./frame/signed/accept-signed.ts";
import type { WayModule } from "./frame/way-module.ts";
import type { CreatedOrderBody } from "./private/accept-order.ts";
import { desk } from "./swap/desk/module.ts";
import { jupiter } from "./swap/jupiter/module.ts";
import { swap } from "./swap/module.ts";
import { wallet } from "./wallet/module.ts";

/** The answer to POST /v1/transactions. */
export type CreatedTransactionBody = CreatedTransferBody | CreatedOrderBody;

// A line for each module, which goes with the module.
// prettier-ignore
export const WAY_MODULES: readonly WayModule<CreatedTransactionBody>[] = [
  wallet,
  swap,
  desk,
  jupiter,
];
