/** Checks that the stored work gets done. */
import { OVERDUE_MS } from "../../service/delivery-backlog.ts";
import type { Health } from "../../service/read-health.ts";
import { fine, warning, wrong, type Finding } from "./finding.ts";

/** The part of the health report about the database. */
export type WorkHealth = Pick<
  Health,
  "storage" | "overdueMs" | "deadLetters" | "failingTasks" | "unknownInstances" | "unprovable" | "attention"
>;

/** A finding for each kind of trouble. */
export function checkWork(work: WorkHealth): readonly Finding[] {
  if (work.storage !== "ok") {
    return [
      wrong("storage", {
        found: `cannot be used: ${work.storage}`,
        todo: "is the database there, and its disk or server?",
      }),
    ];
  }
  const { deadLetters, failingTasks, unknownInstances, unprovable, attention } = work;
  return [
    checkOverdue(work.overdueMs),
    count("dead letters", deadLetters, {
      complain: wrong,
      todo: "`paystate attention` lists them, `paystate resolve` retries or drops them",
    }),
    count("failing tasks", failingTasks, {
      complain: warning,
      todo: "they are tried again and again: `paystate ps --failing` shows why they fail",
    }),
    count("unknown instances", unknownInstances, {
      complain: warning,
      todo: "no chart of this service runs them: start the version that began them",
    }),
    count("unprovable transactions", unprovable, {
      complain: warning,
      todo: "add an endpoint with the whole history, or see `paystate attention`",
    }),
    count("matters for a person", attention, { complain: warning, todo: "see `paystate attention`" }),
  ];
}

function checkOverdue(overdueMs: number): Finding {
  if (overdueMs <= OVERDUE_MS) return fine("work due", "nothing waits");
  return wrong("work due", {
    found: `has waited for ${Math.round(overdueMs / 1_000)} s`,
    todo: "no process does it: start the service, or look at the one that runs",
  });
}

/** Words for a kind of trouble. */
interface Trouble {
  readonly complain: typeof warning;
  readonly todo: string;
}

function count(check: string, number: number, { complain, todo }: Trouble): Finding {
  return number === 0 ? fine(check, "none") : complain(check, { found: String(number), todo });
}
