/** From the actions that XState lists for a step to those of the port. */
import type { AnyMachineSnapshot, EventObject } from "xstate";
import { ChartFault } from "../chart-fault.ts";
import type { Writable } from "../writable.ts";
import type { ActionScope, EventAddress, ChartAction, ChildLink, FormerChild } from "../chart.ts";
import type { StepChartParts } from "./chart-shape.ts";
import { InertActor } from "./inert-actors.ts";
import { wholeDelay } from "./whole-delay.ts";

export interface EmittedAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: ActionScope;
  readonly exec: unknown;
}

/** Under this key the runs of a snapshot count the children that the chart has not named. */
export const UNNAMED = "";

/** The prefix of ids of children that the chart has not named; a number follows. */
export const SESSION_PREFIX = "x:";

/** The run of the next child with this id. */
export function runAfter(runs: Readonly<Record<string, number>>, id: string): number {
  return (Object.hasOwn(runs, id) ? (runs[id] ?? 0) : 0) + 1;
}

interface DelayedEvent {
  readonly id?: string;
  readonly delay?: number;
  readonly event: EventObject;
  readonly to?: InertActor;
}

interface Spawned {
  readonly actorRef?: InertActor;
  readonly src: string | object;
  readonly input: unknown;
}

export interface ChildEndContext {
  /** The id of the child whose end is told. */
  readonly ended?: string | undefined;
  /** By child id: the runs of those that have ended already, and whose ends are on their way. */
  readonly left?: Readonly<Record<string, number>> | undefined;
  /** Ids of children that have ended, and that the chart sends to. */
  readonly absent: readonly string[];
}

/** The actors of a step, as its actions refer to them. */
export interface StepScope extends ChildEndContext {
  readonly self: InertActor;
  readonly parent: InertActor | undefined;
  readonly runs: Record<string, number>;
  /** Whether the list of earlier children may be changed in place. */
  readonly isOwn: boolean;
  /** The earlier children, as XState had them. */
  readonly actors: Readonly<Record<string, unknown>>;
}

type Links = Readonly<Record<string, ChildLink>>;

export const NO_CHILDREN: Links = {};

/** The children of an instance after a step. */
export interface KeptChildren {
  readonly children: Links;
  readonly former: readonly FormerChild[];
}

/** The actions of one step, in order, with the children that are left after it. */
export class StepActionList {
  readonly actions: ChartAction[] = [];
  readonly #shape: StepChartParts;
  readonly #scope: StepScope;
  readonly #before: Links;
  /** The children, earlier ones included: thousands of them are copied only where one begins or ends. */
  #children: Links;
  /** Children that an action has started, even if they are gone already. */
  readonly #started = new Set<string>();
  readonly #startedLinks = new Map<object, ChildLink>();
  readonly #gone = new Set<string>();
  readonly #former: FormerChild[];
  readonly #addressed: {
    readonly actor: InertActor;
    readonly address: { child: string; link?: ChildLink };
  }[] = [];

  constructor(shape: StepChartParts, scope: StepScope, { children, former }: KeptChildren) {
    this.#shape = shape;
    this.#scope = scope;
    this.#before = children;
    this.#children = children;
    this.#former = [...former];
  }

  add(action: EmittedAction): void {
    const { type, params, info } = action;
    switch (type) {
      case "xstate.raise":
        return this.#delayed(params as DelayedEvent, "self");
      case "xstate.sendTo":
        return this.#send(params as DelayedEvent);
      case "xstate.cancel":
        this.actions.push({ kind: "disarm", timer: (params as { sendId: string }).sendId });
        return;
      case "xstate.spawnChild":
        return this.#startChild(params as Spawned);
      case "xstate.stopChild":
        return this.#stopChild(params as InertActor | undefined);
      case "xstate.log": {
        const { label, value } = params as { label: string | undefined; value: unknown };
        this.actions.push({ kind: "log", label, value });
        return;
      }
      case "xstate.emit":
        this.actions.push({ kind: "emit", event: (params as { event: EventObject }).event });
        return;
      default: {
        const { context, event } = info;
        const effect = { name: this.#effectName(action), params };
        this.actions.push({ kind: "effect", effect, scope: { context, event } });
      }
    }
  }

  kept({ children, status }: AnyMachineSnapshot): KeptChildren {
    const present = children as Readonly<Record<string, unknown>>;
    // Where XState has the list still that it was given, nothing has been added to it but what an action has started.
    if (present !== this.#scope.actors) {
      for (const child of Object.entries(present)) this.#checkStarted(child);
    }
    for (const { actor, address } of this.#addressed) {
      const { child } = address;
      if (!this.#isKnown(child) && !this.#shape.spawns) {
        throw new ChartFault(`sendTo: "${child}" is neither a child nor the parent of this chart`);
      }
      // By the actor and not by its id, under which the step may have ended one child and begun another.
      const link = this.#startedLinks.get(actor) ?? (actor instanceof InertActor ? actor.link : undefined);
      if (link !== undefined) address.link = link;
    }
    this.#noteEnd();
    // XState stops the children that have their ids.
    if (status !== "active") for (const { id, ...link } of this.#former) this.#stop(id, link);
    return { children: this.#children, former: this.#former };
  }

  #checkStarted([key, actor]: readonly [string, unknown]): void {
    // A child without an id stands under another key than its own id.
    const { id } = (actor as InertActor | undefined) ?? { id: key };
    if (this.#isKnown(id)) return;
    throw new ChartFault(
      `the child "${id}" was made by spawn inside assign, which a stored chart cannot do again; use the action spawnChild`,
    );
  }

  #isKnown(id: string): boolean {
    if (Object.hasOwn(this.#before, id)) return true;
    return this.#started.has(id) || this.#gone.has(id) || this.#scope.absent.includes(id);
  }

  /** A child that an action has begun ends with its state alone. Kept, all that have ever been would stay in the snapshot. */
  #noteEnd(): void {
    const { ended, runs } = this.#scope;
    const link = ended === undefined ? undefined : this.#before[ended];
    if (ended === undefined || link === undefined || this.#children[ended] !== link) return;
    if (link.isSpawned !== true) {
      if (link.run !== undefined) this.#changed()[ended] = { ...link, hasEnded: true };
      return;
    }
    delete this.#changed()[ended];
    // Where the id is used again, the first one's instance has it still, and the next one takes the id after it.
    if (runs[ended] === 1) delete runs[ended];
  }

  #changed(): Record<string, ChildLink> {
    const isOwn = this.#scope.isOwn && this.#before !== NO_CHILDREN;
    if (this.#children === this.#before && !isOwn) this.#children = { ...this.#before };
    return this.#children;
  }

  #delayed({ id, delay, event }: DelayedEvent, to: EventAddress): void {
    // A delay of 0 is a timer; an undefined one is an event the chart has already worked off in this step.
    if (delay === undefined) return;
    this.actions.push({ kind: "arm", timer: id ?? null, delayMs: wholeDelay(delay, event), event, to });
  }

  #send(sent: DelayedEvent): void {
    const to = this.#addressOf(sent.to);
    if (sent.delay !== undefined) return this.#delayed(sent, to);
    this.actions.push({ kind: "send", to, event: sent.event });
  }

  #addressOf(to: InertActor | undefined): EventAddress {
    if (to === undefined || to === this.#scope.self) return "self";
    if (to === this.#scope.parent) return "parent";
    // Entry actions come before the invocations of their state, so the child may be started later in this step.
    const address = { child: to.id };
    this.#addressed.push({ actor: to, address });
    return address;
  }

  #startChild({ actorRef, src, input }: Spawned): void {
    const name = typeof src === "string" ? src : this.#shape.actorNames.get(src);
    const source = name === undefined ? undefined : this.#shape.actors.get(name);
    if (name === undefined || source === undefined || actorRef === undefined) {
      throw new ChartFault(
        `spawnChild: the actor ${name === undefined ? "" : `"${name}" `}is not known; name it in setup({ actors })`,
      );
    }
    const { id, systemId } = actorRef;
    const isSpawned = !this.#shape.invocations.has(id);
    // Assigned to an object under this name, a value would be its prototype.
    if (id === "__proto__") throw new ChartFault("spawnChild: a child cannot have the id __proto__");
    const { runs } = this.#scope;
    this.#started.add(id);
    if (id === actorRef.sessionId) runs[UNNAMED] = Number(id.slice(SESSION_PREFIX.length));
    const replaced = Object.hasOwn(this.#children, id) ? this.#children[id] : undefined;
    if (replaced !== undefined && replaced.hasEnded !== true) this.#keepFormer(id, replaced);
    const link: Writable<ChildLink> = { src: name };
    if (source.kind !== "promise") link.run = runs[id] = runAfter(runs, id);
    if (systemId !== undefined) link.systemId = systemId;
    if (isSpawned) link.isSpawned = true;
    this.#changed()[id] = link;
    this.#startedLinks.set(actorRef, link);
    this.actions.push({ kind: "startChild", id, input, src: name, run: link.run });
  }

  #stopChild(child: InertActor | undefined): void {
    const link = child === undefined ? undefined : this.#children[child.id];
    if (child === undefined || link === undefined) return;
    delete this.#changed()[child.id];
    this.#gone.add(child.id);
    if (link.run !== undefined && this.#scope.left?.[child.id] === link.run) {
      this.#keepFormer(child.id, { ...link, hasEnded: true });
    } else this.#stop(child.id, link);
  }

  #stop(id: string, { src, run, hasEnded }: ChildLink): void {
    if (hasEnded !== true) this.actions.push({ kind: "stopChild", id, src, run });
  }

  /** The end of a promise is known by its task. */
  #keepFormer(id: string, { src, run, hasEnded }: ChildLink): void {
    if (run === undefined) return;
    const former: Writable<FormerChild> = { id, src, run };
    if (hasEnded === true) former.hasEnded = hasEnded;
    this.#former.push(former);
  }

  #effectName({ type, exec }: EmittedAction): string {
    if (typeof exec !== "function") return type;
    const inline = this.#shape.inlineNames.get(exec);
    if (inline !== undefined) return inline;
    if (this.#shape.bodies.get(type) === exec) return type;
    throw new ChartFault(
      `enqueueActions: the action "${type}" is written inline and could not be found again after a restart; name it in setup({ actions })`,
    );
  }
}
