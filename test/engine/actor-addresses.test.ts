/** D53, D84: contexts, events and outputs hold actors, which are found by a later process, and no other ones in their place. */
import { expect } from "vitest";
import { createActor, SimulatedClock, type AnyStateMachine } from "xstate";
import { workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";
import { clientAndServer, inviter, keeper, siblings } from "./actor-charts.ts";
import { spawning } from "./spawning-chart.ts";

/** An event, or a time that passes. */
type Happening = string | number;

interface Seen {
  readonly value: unknown;
  readonly context: unknown;
  readonly status: unknown;
}

const isActor = (value: unknown): value is { readonly id: string } =>
  typeof value === "object" && value !== null && "sessionId" in value && "send" in value;

/** The context, with actors by their ids. */
function named(value: unknown): unknown {
  // XState counts the children that have no id over the whole process.
  if (isActor(value)) return `actor ${value.id.replace(/^x:\d+$/, "without an id")}`;
  if (Array.isArray(value)) return value.map(named);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, named(each)]));
}

function inXState(machine: AnyStateMachine, script: readonly Happening[]): Seen[] {
  const clock = new SimulatedClock();
  const actor = createActor(machine, { clock, id: "c" }).start();
  const look = (): Seen => {
    const { value, context, status } = actor.getSnapshot() as Seen;
    expect(status).not.toBe("error");
    return { value, context: named(context), status };
  };
  return [
    look(),
    ...script.map((happening) => {
      if (typeof happening === "number") clock.increment(happening);
      else actor.send({ type: happening });
      return look();
    }),
  ];
}

const { test, running, settled, pass, awaitsOutside } = engineTest("actor addresses");

/** With a new process for each happening, or with one for all of them. */
async function durably(
  machine: AnyStateMachine,
  { script, isAnew }: { readonly script: readonly Happening[]; readonly isAnew: boolean },
): Promise<Seen[]> {
  const sights: Seen[] = [];
  const charts = workflow(machine)({ version: 1 });
  let one = await running(charts, "c");
  const look = async (): Promise<void> => {
    await settled();
    const { value, context, status } = (await one.read("c")) as Seen;
    sights.push({ value, context: named(context), status });
  };
  await look();
  for (const happening of script) {
    if (isAnew) {
      await one.stop();
      one = await running(charts);
    }
    if (typeof happening === "number") await pass(happening);
    else await one.send(charts, "c", { type: happening });
    await look();
  }
  const children = ["kid", "kid~2", "kid~3", "kid~4", "first", "second", "third", "x:1", "x:2", "x:3"];
  awaitsOutside("c", ...children.map((id) => `c/${id}`));
  return sights;
}

const scripts: Readonly<Record<string, readonly [AnyStateMachine, readonly Happening[]]>> = {
  "XState's client and server": [clientAndServer, ["AUTH", 500, 600]],
  "a parent that keeps what spawn returns": [
    keeper,
    ["LOOK", "SPAWN", "LOOK", "SAY", "ALL", "LOOK", "ASK", "FORWARD", "STOP", "LOOK"],
  ],
  "a parent that learns of its child by its child": [
    inviter,
    ["LOOK", "SAY", "LOOK", "ASK", "SAY", "LEAVE", "LOOK", "NEXT", "SAY", "LOOK"],
  ],
  "a parent that keeps whom its system names": [inviter, ["KEEP", "LOOK", "SAY", "ASK", "LOOK"]],
  "a chart that spawns in every kind of assign": [
    spawning,
    ["WHOLE", "ASK", "COUNT", "RAISE", "MANY", "ANEW", "ANEW", "BRIEFLY", "ANEW", "ASK"],
  ],
  "children that speak to each other": [siblings, ["SAY", "MORE", "LOUD", "SAY"]],
};

const rows = Object.entries(scripts).flatMap(([name, [machine, script]]) =>
  [false, true].map((isAnew) => ({ name, how: isAnew ? "any two events" : "none", machine, script, isAnew })),
);
test.each(rows)(
  "D53: $name: the same as under createActor, with a new process between $how",
  async ({ machine, script, isAnew }) => {
    expect(await durably(machine, { script, isAnew })).toEqual(inXState(machine, script));
  },
);
