/** The context that all use cases about webhooks share. */
import type { PaymentWrite } from "../payment-storage.ts";
import type { ServiceContext } from "../service-context.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { DeliveryClient } from "./sending/attempt.ts";
import type { ReceiverRules } from "./webhook-fields.ts";

/** Made once for each service. */
export interface WebhookContext extends Pick<ServiceContext, "storage" | "clock" | "random"> {
  readonly sealing: SecretBox;
  readonly delivery: DeliveryClient;
  readonly rules: ReceiverRules;
  /** For how long deliveries are signed with the replaced secret, too, in milliseconds. */
  readonly secretOverlapMs: number;
  /** Commits these writes together; false when one of them was refused. */
  readonly commit: (writes: readonly PaymentWrite[]) => Promise<boolean>;
}
