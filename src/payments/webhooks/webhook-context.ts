/** The context that all use cases about webhooks share. */
import type { PaymentWrite } from "../payment-storage.ts";
import type { ServiceContext } from "../service-context.ts";
import type { Sealing } from "../secrets/sealing.ts";
import type { Delivery } from "./sending/attempt.ts";
import type { ReceiverRules } from "./webhook-fields.ts";

/** Made once for each service. */
export interface WebhookContext extends Pick<ServiceContext, "storage" | "clock" | "random"> {
  readonly sealing: Sealing;
  readonly delivery: Delivery;
  readonly rules: ReceiverRules;
  /** For how long deliveries are signed with the replaced secret, too, in milliseconds. */
  readonly secretOverlapMs: number;
  /** Commits these writes together; false when one of them was refused. */
  readonly commit: (writes: readonly PaymentWrite[]) => Promise<boolean>;
}
