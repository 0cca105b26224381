/** Eighteen mistakes that somebody makes in the first hour, each with what the compiler, or the call, says of it. */
import { createMachine } from "xstate";
import { workflow } from "paystate/engine";
import { approvals, engine, old } from "./shop.ts";

/** A mistake that does not compile: an expression over the names of `shop.ts`, and what the compiler says. */
interface Uncompiled {
  readonly mistake: string;
  readonly code: string;
  readonly says: RegExp;
}

/** A mistake that the compiler cannot know, or that nobody compiles: the call, and its error. */
interface Refused {
  readonly mistake: string;
  readonly act: () => unknown;
  readonly says: RegExp;
}

export const uncompiled: readonly Uncompiled[] = [
  {
    mistake: "a state that the chart does not have is waited for",
    code: `engine.waitFor(orders, "o-1", { state: "payed" })`,
    says: /"payed"' is not assignable to type .*"paying"/,
  },
  {
    mistake: "a state is named by its last key alone",
    code: `engine.list(orders, { state: "packed" })`,
    says: /"packed"' is not assignable to type .*"shipping\.packed"/,
  },
  {
    mistake: "a value that was read is compared with a state that the chart does not have",
    code: `engine.read(orders, "o-1").then((found) => found?.value === "shiped")`,
    says: /no overlap/,
  },
  {
    mistake: "a field is read that the context does not have",
    code: `engine.read(orders, "o-1").then((found) => found?.context.recipt)`,
    says: /'recipt' does not exist.*Did you mean 'receipt'/,
  },
  {
    mistake: "an output is taken for there before the status was looked at",
    code: `engine.read(orders, "o-1").then((found) => found?.output.receipt)`,
    says: /'found.output' is possibly 'undefined'/,
  },
  {
    mistake: "an output is taken for another type",
    code: `engine.waitFor(orders, "o-1", "final").then(({ output }): string | undefined => output)`,
    says: /not assignable to type 'string/,
  },
  {
    mistake: "an event has a type that the chart does not take",
    code: `engine.send(orders, "o-1", { type: "CANCELED" })`,
    says: /"CANCELED"' is not assignable to type .*"CANCEL"/,
  },
  {
    mistake: "an event lacks a field",
    code: `engine.send(orders, "o-1", { type: "PACK" })`,
    says: /'parcel' is missing/,
  },
  {
    mistake: "a start lacks a field of the input",
    code: `engine.start(orders, { id: "o-1", input: {} })`,
    says: /'card' is missing/,
  },
  {
    mistake: "an effect is forgotten where handlers are given",
    code: `workflow(order)({ version: 3, effects: {} })`,
    says: /'thank' is missing/,
  },
  {
    mistake: "an actor is given options under a name that the chart does not have",
    code: `workflow(order)({ version: 3, actors: { chrage: { retry: { atMost: 3 } } } })`,
    says: /'chrage' does not exist.*/,
  },
  {
    mistake: "a migration leads to a state that the chart does not have",
    code: `workflow(order)({ version: 2, migrate: { 1: () => ({ value: "payed" as const }) } })`,
    says: /"payed"' is not assignable to type .*"paying"/,
  },
  {
    mistake: "a promise is taken for a child machine",
    code: `orders.child("charge")`,
    says: /"charge"' is not assignable to parameter of type '"approver"'/,
  },
  {
    mistake: "a child is sent an event of its parent",
    code: `engine.send(orders.child("approver"), "o-1/approver", { type: "CANCEL" })`,
    says: /"CANCEL"' is not assignable to type '"APPROVE"'/,
  },
  {
    mistake: "a workflow writes a table that the engine does not have",
    code: `engine.start(weighed, { id: "a-1", input: undefined })`,
    says: /is not assignable to parameter of type 'Workflow/,
  },
];

export const refused: readonly Refused[] = [
  {
    mistake: "an instance is read with the handle of another version",
    act: () => engine.read(old, "o-1"),
    says: /^instance o-1 is one of order@2, and not of order@1: read it with the handle of that version/,
  },
  {
    mistake: "an instance of one chart is waited for as one of another",
    act: () => engine.waitFor(approvals, "o-1", "final"),
    says: /^instance o-1 is one of order@2, and not of approval/,
  },
  {
    mistake: "a program without types waits for a state that the chart does not have",
    act: () => engine.waitFor(loose, "o-1", { state: "shipping.pakced" }),
    says: /has no state "shipping\.pakced": expected one of .*shipping\.packed/,
  },
];

/** `createMachine` alone tells TypeScript no states. */
const loose = workflow(
  createMachine({
    id: "loose",
    initial: "shipping",
    states: { shipping: { initial: "packed", states: { packed: {} } } },
  }),
)({ version: 1 });
