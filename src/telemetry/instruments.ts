/** The measured quantities: telemetry adapters make their instruments from this list. */
import { nodeAsked, requestAnswered, taskEnded, webhookCalled, type Topic } from "../core/diagnostics.ts";
import type { Health } from "../service/read-health.ts";

/** The values of an instrument's labels, by name. */
type Labels = Readonly<Record<string, string>>;

/** A histogram of durations, one value for each event. */
export interface DurationInstrument {
  /** Dotted, without the unit. */
  readonly name: string;
  readonly description: string;
  readonly labels: readonly string[];
  /** Calls `record` with each value, in seconds, until the answer is called. */
  readonly subscribe: (record: (seconds: number, labels: Labels) => void) => () => void;
}

/** A gauge: the present value of a quantity. */
export interface GaugeInstrument {
  /** Dotted, with the unit if any. */
  readonly name: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly valuesOf: (health: Health) => readonly GaugeValue[];
}

/** A value of a gauge. */
interface GaugeValue {
  readonly value: number;
  readonly labels: Labels;
}

/** Upper bounds of the buckets of a histogram, in seconds: from a commit to the deadline of a webhook. */
export const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The measurement of a topic's messages by an instrument. */
interface Measure<Message extends object, Name extends string> {
  readonly topic: Topic<Message>;
  readonly msOf: (message: Message) => number;
  readonly labelsOf: (message: Message) => Readonly<Record<Name, string>>;
}

function duration<Message extends object, Name extends string>(
  { name, description, labels }: Omit<DurationInstrument, "subscribe"> & { readonly labels: readonly Name[] },
  { topic, msOf, labelsOf }: Measure<Message, Name>,
): DurationInstrument {
  return {
    name,
    description,
    labels,
    subscribe: (record) => topic.subscribe((message) => record(msOf(message) / 1_000, labelsOf(message))),
  };
}

/** Every duration that is measured. */
export const DURATIONS: readonly DurationInstrument[] = [
  duration(
    {
      name: "paystate.request.duration",
      description: "Time to answer a request to the API",
      labels: ["method", "route", "status"],
    },
    {
      topic: requestAnswered,
      msOf: ({ durationMs }) => durationMs,
      labelsOf: ({ method, route, status }) => ({ method, route, status: String(status) }),
    },
  ),
  duration(
    {
      name: "paystate.task.duration",
      description: "Time in which a task was done, failed, or was given back",
      labels: ["workflow", "kind", "name", "outcome"],
    },
    {
      topic: taskEnded,
      msOf: ({ durationMs }) => durationMs,
      labelsOf: ({ workflow, kind, name, outcome }) => ({ workflow, kind, name, outcome }),
    },
  ),
  duration(
    {
      name: "paystate.task.lateness",
      description: "Time between when a task was due and when it was begun",
      labels: ["workflow", "kind"],
    },
    {
      topic: taskEnded,
      msOf: ({ lateMs }) => lateMs,
      labelsOf: ({ workflow, kind }) => ({ workflow, kind }),
    },
  ),
  // modules: webhooks
  duration(
    {
      name: "paystate.webhook.duration",
      description: "Time of one call to a webhook, until its status line or the failure",
      labels: ["outcome"],
    },
    { topic: webhookCalled, msOf: ({ durationMs }) => durationMs, labelsOf: ({ outcome }) => ({ outcome }) },
  ),
  duration(
    {
      name: "paystate.node.duration",
      description: "Time of one call to a node of the chain",
      labels: ["endpoint", "method", "outcome"],
    },
    {
      topic: nodeAsked,
      msOf: ({ durationMs }) => durationMs,
      labelsOf: ({ endpoint, method, outcome }) => ({ endpoint, method, outcome }),
    },
  ),
];

const STATUSES: readonly Health["status"][] = ["ok", "degraded", "down"];

/** A gauge with one value and no labels; null: there is none at the moment. */
function single(
  name: string,
  description: string,
  valueOf: (health: Health) => number | null,
): GaugeInstrument {
  const valuesOf = (health: Health): readonly GaugeValue[] => {
    const value = valueOf(health);
    return value === null ? [] : [{ value, labels: {} }];
  };
  return { name, description, labels: [], valuesOf };
}

/** Every gauge; all of them are read from the service's health. */
export const GAUGES: readonly GaugeInstrument[] = [
  {
    name: "paystate.health",
    description: "1 for the status that the service has, 0 for the others",
    labels: ["status"],
    valuesOf: ({ status: now }) =>
      STATUSES.map((status) => ({ value: status === now ? 1 : 0, labels: { status } })),
  },
  single(
    "paystate.chain.compared",
    "1 once the chain was compared with the database, 0 while a start waits for it",
    ({ chain: { state } }) => (state === "unasked" ? null : Number(state === "compared")),
  ),
  single("paystate.ledger.slot", "The newest finalized slot", ({ ledger }) => ledger?.slot ?? null),
  single(
    "paystate.witnesses.needed",
    "Endpoints that must agree before anything final is believed",
    ({ witnesses }) => witnesses?.needed ?? null,
  ),
  single(
    "paystate.witnesses.answering",
    "Endpoints that answer",
    ({ witnesses }) => witnesses?.answering ?? null,
  ),
  single(
    "paystate.attention",
    "Matters that wait for a person, up to 200 of each kind",
    ({ attention }) => attention,
  ),
  single(
    "paystate.unprovable",
    "Transactions of which no evidence tells whether they landed",
    ({ unprovable }) => unprovable,
  ),
  single("paystate.dead_letters", "Tasks that were set aside, up to 100", ({ deadLetters }) => deadLetters),
  single(
    "paystate.failing_tasks",
    "Tasks that fail and are tried again, up to 100",
    ({ failingTasks }) => failingTasks,
  ),
  single(
    "paystate.unknown_instances",
    "Active instances that this process cannot run, up to 100",
    ({ unknownInstances }) => unknownInstances,
  ),
  single(
    "paystate.overdue.seconds",
    "How long the earliest due task has waited",
    ({ overdueMs }) => overdueMs / 1_000,
  ),
  {
    name: "paystate.watches",
    description: "Subjects that this process follows on the chain",
    labels: ["kind"],
    valuesOf: ({ watches }) =>
      Object.entries(watches).map(([kind, { watched }]) => ({ value: watched, labels: { kind } })),
  },
  {
    name: "paystate.watches.late.seconds",
    description: "How long ago the watch that has waited longest was looked at",
    labels: ["kind"],
    valuesOf: ({ watches }) =>
      Object.entries(watches).map(([kind, { lateMs }]) => ({ value: lateMs / 1_000, labels: { kind } })),
  },
];
