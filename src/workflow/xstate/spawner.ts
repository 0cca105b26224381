/** `spawn`, as the functions of `assign` and of the context are given it: it begins a child and answers its address. */
import type { ActorAddress } from "../actor-address.ts";
import { ChartFault } from "../chart-fault.ts";
import type { StepFamily } from "./step-family.ts";

interface SpawnOptions {
  readonly id?: string;
  readonly systemId?: string;
  readonly input?: unknown;
  readonly syncSnapshot?: boolean;
}

interface SpawningScope {
  readonly family: StepFamily;
  /** Takes the action that begins a child, at its place among the others. */
  readonly actionExecutor: (action: object) => void;
}

export class Spawner {
  /** The child that it has begun; undefined if nothing. */
  children: Record<string, ActorAddress> | undefined;
  readonly #scope: SpawningScope;
  readonly #seen: { readonly context: object; readonly event: unknown };

  constructor(scope: SpawningScope, seen: { readonly context: object; readonly event: unknown }) {
    this.#scope = scope;
    this.#seen = seen;
  }

  readonly spawn = (src: string | object, options: SpawnOptions = {}): ActorAddress => {
    const { systemId, input, syncSnapshot = false } = options;
    if (syncSnapshot) throw followed("spawn");
    const { family, actionExecutor } = this.#scope;
    const booked = family.system.bookId();
    const { id = booked } = options;
    const { self } = family;
    // XState asks a function for the input of a named actor alone.
    const isAsked = typeof src === "string" && typeof input === "function";
    const given = isAsked ? (input as (scope: object) => unknown)({ ...this.#seen, self }) : input;
    const actorRef = family.begun({ id, src, systemId, hasAddress: true });
    if (family.childOf(actorRef) === undefined) throw unknownActor("spawn", src);
    (this.children ??= {})[id] = actorRef;
    const params = { id, systemId, actorRef, src, input: given, isUnnamed: id === booked };
    actionExecutor({ type: "xstate.spawnChild", params, info: undefined, exec: undefined });
    return actorRef;
  };
}

/** A child whose every step another chart wants to see. */
export function followed(action: string): ChartFault {
  return new ChartFault(
    `${action}: syncSnapshot would need every step of the child; let the child tell its parent with sendParent`,
  );
}

/** A child whose logic the engine would not find again. */
export function unknownActor(action: string, src: string | object): ChartFault {
  const name = typeof src === "string" ? `"${src}" ` : "";
  return new ChartFault(`${action}: the actor ${name}is not known; name it in setup({ actors })`);
}
