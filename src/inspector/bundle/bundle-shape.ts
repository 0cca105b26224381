/** The schema of a bundle: a bundle that was edited or forged is refused before any of it is shown. */
import { z } from "zod";
import type { ChartState } from "../chart/read-chart.ts";

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** In milliseconds. */
const time = z.number();
const text = z.string();

/** Text that is JSON of an object, or of a state value. */
const json = text.refine(isJson);

function isJson(written: string): boolean {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "string" || (typeof value === "object" && value !== null);
  } catch {
    return false;
  }
}

const instance = z.object({
  id: text,
  workflow: text,
  hash: text,
  version: count,
  stamp: text,
  life: text,
  parent: text.nullable(),
  status: z.enum(["active", "done"]),
  snapshot: json,
  createdAt: time,
  updatedAt: time,
});

const step = z.object({
  instance: text,
  version: count,
  stamp: text,
  at: time,
  event: json,
  value: json,
  cause: text.nullable(),
});

const task = z.object({
  id: text,
  instance: text,
  workflow: text,
  kind: z.enum(["effect", "timer", "message", "invocation"]),
  name: text,
  payload: text,
  dueAt: time,
  limits: z.array(z.object({ key: text, atMost: count })),
  crashes: count,
  isSuspect: z.boolean(),
  failures: count,
  lastError: text.nullable(),
  visibleAt: time,
  isHeld: z.boolean(),
  isParked: z.boolean(),
  failingSince: time.nullable(),
  deadAt: time.nullable(),
});

const watch = z.object({ kind: text, key: text, instance: text, life: text, workflow: text, shard: count });

const state: z.ZodType<ChartState> = z.object({
  id: text,
  name: text,
  kind: z.enum(["atomic", "compound", "parallel", "final", "history"]),
  isRegion: z.boolean(),
  notes: z.array(text),
  answers: z.array(text),
  initial: text.nullable(),
  status: text.nullable(),
  attention: text.nullable(),
  get states() {
    return z.array(state);
  },
});

const transition = z.object({ from: text, to: text, entered: text, event: text, label: text });

/** The shape of a bundle. */
export const bundleShape = z.object({
  instance,
  history: z.array(step),
  pending: z.object({ tasks: z.array(task), watches: z.array(watch) }),
  chart: z
    .object({
      key: text,
      hash: text,
      chart: z.object({ name: text, root: state, transitions: z.array(transition) }),
    })
    .nullable(),
});
