/** Everywhere that matters come from; another source is added here, as a file of its own and one line. */
import type { PaymentStorage } from "../../../../storage/storage.ts";
import type { Clock } from "../../../runtime.ts";
import { abandonedWebhooks } from "./abandoned-webhooks.ts";
import { heldAddresses } from "./held-addresses.ts";
import type { AttentionSource } from "./matter.ts";
import { orphans } from "./orphans.ts";
import { deadLetters, failingTasks } from "./troubled-tasks.ts";

/** What the sources are made with. */
export interface SourceSurroundings {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  /** The workflows of this process, as `name@version`. */
  readonly workflowKeys: readonly string[];
  /** Whether private mode is on. */
  readonly isRouting: boolean;
}

/** Every source of matters. */
export function attentionSources({
  storage,
  clock,
  workflowKeys,
  isRouting,
}: SourceSurroundings): readonly AttentionSource[] {
  return [
    heldAddresses(storage, isRouting),
    deadLetters(storage),
    failingTasks(storage),
    orphans(storage, clock, workflowKeys),
    abandonedWebhooks(storage),
  ];
}
