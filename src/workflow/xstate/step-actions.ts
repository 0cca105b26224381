/** From the actions that XState lists for a step to those of the port. */
import type { AnyMachineSnapshot, EventObject } from "xstate";
import { ActorAddress } from "../actor-address.ts";
import { ChartFault } from "../chart-fault.ts";
import type { Writable } from "../writable.ts";
import {
  childInstance,
  type ActionScope,
  type ChartAction,
  type ChildLink,
  type EventAddress,
  type FormerChild,
} from "../chart.ts";
import type { StepChartParts } from "./chart-shape.ts";
import { NO_CHILDREN, SESSION_PREFIX, type StepFamily, UNNAMED } from "./step-family.ts";
import { unknownActor } from "./spawner.ts";
import { wholeDelay } from "./whole-delay.ts";

export interface EmittedAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: ActionScope;
  readonly exec: unknown;
}

interface DelayedEvent {
  readonly id?: string;
  readonly delay?: number;
  readonly event: EventObject;
  /** An address, or what XState has made of an invocation; a chart may give anything. */
  readonly to?: object;
}

/** The fields of an action that begins a child. */
export interface Spawned {
  readonly id?: unknown;
  readonly systemId?: string;
  readonly actorRef?: { readonly id: string };
  readonly src: string | object;
  readonly input: unknown;
  readonly isUnnamed?: boolean;
}

export interface ChildEndContext {
  /** The id of the child whose end is told. */
  readonly ended?: string | undefined;
  /** By child id: the runs of those that have ended already, and whose ends are on their way. */
  readonly left?: Readonly<Record<string, number>> | undefined;
  /** Ids of children that have ended, and that the chart sends to. */
  readonly absent: readonly string[];
}

const NO_ADDRESS =
  "it is no actor of this engine: send to what spawn has returned, to self, to a sender, or to the id of a child";

/** The actors of a step, as its actions refer to them. */
export interface StepScope extends ChildEndContext {
  readonly family: StepFamily;
  readonly runs: Record<string, number>;
  /** Whether the list of earlier children may be changed in place. */
  readonly isOwn: boolean;
}

type Links = Readonly<Record<string, ChildLink>>;

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
  readonly #gone = new Set<string>();
  readonly #former: FormerChild[];
  readonly #addressed: string[] = [];

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
        return this.#stopChild(params as object | undefined);
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

  kept({ status }: AnyMachineSnapshot): KeptChildren {
    for (const child of this.#addressed) {
      if (this.#isKnown(child) || this.#shape.spawns) continue;
      throw new ChartFault(`sendTo: "${child}" is neither a child nor the parent of this chart`);
    }
    this.#noteEnd();
    // XState stops the children that have their ids.
    if (status !== "active") for (const { id, ...link } of this.#former) this.#stop(id, link);
    return { children: this.#children, former: this.#former };
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

  #addressOf(to: object | undefined): EventAddress {
    const { family } = this.#scope;
    if (to === undefined || to === family.self) return "self";
    // By the actor and not by its id, under which the step may have ended one child and begun another.
    const child = family.childOf(to);
    if (child !== undefined) {
      const { id, link } = child;
      this.#addressed.push(id);
      return link === undefined ? { child: id } : { child: id, link };
    }
    if (to === family.parent) return "parent";
    if (to instanceof ActorAddress) return { actor: to };
    throw new ChartFault(NO_ADDRESS);
  }

  #startChild({ actorRef, src, input, isUnnamed = false }: Spawned): void {
    const { id, link } = (actorRef && this.#scope.family.childOf(actorRef)) ?? {};
    if (id === undefined || link === undefined) throw unknownActor("spawnChild", src);
    // Assigned to an object under this name, a value would be its prototype.
    if (id === "__proto__") throw new ChartFault("spawnChild: a child cannot have the id __proto__");
    const { runs } = this.#scope;
    this.#started.add(id);
    if (isUnnamed) runs[UNNAMED] = Number(id.slice(SESSION_PREFIX.length));
    const replaced = Object.hasOwn(this.#children, id) ? this.#children[id] : undefined;
    if (replaced !== undefined && replaced.hasEnded !== true) this.#keepFormer(id, replaced);
    if (link.run !== undefined) runs[id] = link.run;
    this.#changed()[id] = link;
    this.actions.push({ kind: "startChild", id, input, src: link.src, run: link.run });
  }

  #stopChild(actor: object | undefined): void {
    if (actor === undefined) return;
    const child = this.#scope.family.childOf(actor);
    if (child === undefined) return this.#stopOther(actor);
    const { id, link: meant } = child;
    const link = this.#children[id];
    // A later child may have its id.
    if (link === undefined || meant === undefined) return;
    if (link.run !== meant.run || link.life !== meant.life) return this.#stopFormer(id, meant);
    delete this.#changed()[id];
    this.#gone.add(id);
    if (link.run !== undefined && this.#scope.left?.[id] === link.run) {
      this.#keepFormer(id, { ...link, hasEnded: true });
    } else this.#stop(id, link);
  }

  #stop(id: string, { src, run, hasEnded }: ChildLink): void {
    if (hasEnded !== true) this.actions.push({ kind: "stopChild", id, src, run });
  }

  /** A child that another one has replaced under its id, by the address that the chart has kept of it. */
  #stopOther(actor: object): void {
    if (!(actor instanceof ActorAddress)) throw new ChartFault(NO_ADDRESS);
    const { self } = this.#scope.family;
    const former = this.#former.find(
      ({ id, run }) => childInstance(self.instance, id, run) === actor.instance,
    );
    if (former !== undefined) return this.#stopFormer(former.id, former);
    if (actor.instance.startsWith(`${self.instance}/`)) return;
    throw new ChartFault(`stopChild: "${actor.id}" is no child of this chart; tell it to end with sendTo`);
  }

  #stopFormer(id: string, { run }: Pick<ChildLink, "run">): void {
    const at = this.#former.findIndex((former) => former.id === id && former.run === run);
    const [former] = at < 0 ? [] : this.#former.splice(at, 1);
    if (former !== undefined) this.#stop(id, former);
  }

  /** The end of a promise is known by its task. */
  #keepFormer(id: string, { src, run, hasEnded, life }: ChildLink): void {
    if (run === undefined) return;
    const former: Writable<FormerChild> = { id, src, run };
    if (hasEnded === true) former.hasEnded = hasEnded;
    if (life !== undefined) former.life = life;
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
