/** SQL for the due time of a task that is given back, retried or amended. */
import { CLOCK } from "../database-clock.ts";

export const dueOf = (given: string): string => `"dueAt" = (${given}->>'dueAt')::bigint,
      "visibleAt" = coalesce((${given}->>'visibleAt')::bigint, ${CLOCK} + (${given}->>'delayMs')::bigint),
      "delayMs" = (${given}->>'delayMs')::bigint`;
