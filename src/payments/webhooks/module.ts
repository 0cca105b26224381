/** Webhooks: the receivers of an account are told what happens to its transactions. */
import type { WayModule } from "../frame/way-module.ts";
import { openWebhooks } from "./open-webhooks.ts";
import type { WebhookOptions } from "./webhook-options.ts";
import type { WebhookStorage, WebhookTables } from "./webhook-storage.ts";

export const webhooks: WayModule<never, WebhookStorage, WebhookTables, WebhookOptions> = {
  name: "webhooks",
  owns: ["examples/demo/", "examples/init/templates/payments/", "examples/shop/", "examples/swap-provider/"],
  open: openWebhooks,
};
