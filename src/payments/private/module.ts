/** Private mode: customers deposit at an address of their own, and the service pays out of it. */
import type { WayModule } from "../frame/way-module.ts";
import type { CreatedOrderBody } from "./accept-order.ts";
import { openPrivateMode } from "./open-private-mode.ts";
import type { PrivateOptions } from "./private-routing-options.ts";
import type { PrivateStorage, PrivateTables } from "./private-storage.ts";

export const privateMode: WayModule<CreatedOrderBody, PrivateStorage, PrivateTables, PrivateOptions> = {
  name: "private",
  open: openPrivateMode,
};
