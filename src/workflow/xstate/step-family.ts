/** The actors of one step, which do nothing: the chart's self, parent, children and system. */
import { ChartFault } from "../chart-fault.ts";
import {
  ActorAddress,
  ActorTable,
  instancesIn,
  isRevived,
  LifeUnknown,
  unknownLife,
  type ActorPlace,
  type StepActors,
} from "../actor-address.ts";
import { childInstance, type ChildLink, type KnownLives, type ParentLink, type StepActor } from "../chart.ts";
import { nameOf } from "../workflow-key.ts";
import type { Writable } from "../writable.ts";
import type { StepChartParts } from "./chart-shape.ts";

/** Under this key the runs of a snapshot count the children that the chart has not named. */
export const UNNAMED = "";

/** The prefix of ids of children that the chart has not named; a number follows. */
export const SESSION_PREFIX = "x:";

type Links = Readonly<Record<string, ChildLink>>;

export const NO_CHILDREN: Links = {};

/** The run of the next child with this id. */
export function runAfter(runs: Readonly<Record<string, number>>, id: string): number {
  return (Object.hasOwn(runs, id) ? (runs[id] ?? 0) : 0) + 1;
}

const NO_WORKFLOW: StepActor["workflow"] = { name: "", child: () => NO_WORKFLOW };

/** Makes a step for nobody. */
const NOBODY: StepActor = { instance: "self", life: "", stamp: "", workflow: NO_WORKFLOW };

/** A child of the step's instance. Asked for its life it answers what the snapshot of the instance has noted. */
class ChildPlace implements ActorPlace {
  readonly #actor: StepActor;
  readonly #id: string;
  readonly #link: ChildLink;
  readonly #isNew: boolean;

  constructor(actor: StepActor, { id, link, isNew = false }: LinkedChild) {
    this.#actor = actor;
    this.#id = id;
    this.#link = link;
    this.#isNew = isNew;
  }

  get instance(): string {
    return childInstance(this.#actor.instance, this.#id, this.#link.run ?? 1);
  }

  get isUnknown(): boolean {
    return this.#link.life === undefined;
  }

  get life(): string {
    const { fault } = this;
    if (fault !== undefined) throw new ChartFault(`the address of "${this.#id}": ${fault}`);
    if (this.#link.life !== undefined) return this.#link.life;
    throw unknownLife(new LifeUnknown(this.#id, this.instance, this.#isNew));
  }

  get workflow(): string | null {
    const { run, src } = this.#link;
    return run === undefined ? null : this.#actor.workflow.child(src).name;
  }

  get fault(): string | undefined {
    const { run, life } = this.#link;
    if (run !== undefined || life !== undefined) return undefined;
    return `it is the promise "${this.#id}", which takes no events; keep its id, or what spawn returns`;
  }
}

/** A child by its id, and its link where it has ever begun. */
interface KnownChild {
  readonly id: string;
  readonly link?: ChildLink;
}

type LinkedChild = Required<KnownChild> & { readonly isNew?: boolean };

/** A child that a step begins. */
export interface BegunChild {
  readonly id: string;
  readonly src: string | object;
  readonly systemId: string | undefined;
  /** True where the chart keeps its address. */
  readonly hasAddress?: true;
}

interface FamilyParts {
  readonly shape: StepChartParts;
  readonly actor: StepActor | undefined;
  readonly parent: ParentLink | undefined;
  readonly children: Links;
  readonly runs: Readonly<Record<string, number>>;
  readonly lives: KnownLives | undefined;
}

export class StepFamily implements StepActors {
  readonly self: ActorAddress;
  /** The children from before the step, each made when it is asked for: of thousands a step asks for few. */
  readonly children: Record<string, ActorAddress>;
  readonly system: StepSystem;
  /** The snapshot before the step. */
  present: { readonly context: unknown } | undefined;
  event: object | undefined;
  unknown: LifeUnknown | undefined;
  readonly #parts: FamilyParts;
  readonly #actor: StepActor;
  readonly #table: ActorTable;
  /** By the actor as the chart or XState has it. */
  readonly #known = new Map<object, KnownChild>();
  readonly #made: Record<string, ActorAddress> = {};
  #begun: Map<string, number> | undefined;
  /** The instances whose addresses the step was given. */
  #given: ReadonlySet<string> | undefined;
  #promises = 0;
  #parent: ActorAddress | undefined;

  constructor(parts: FamilyParts) {
    const { actor = NOBODY, children, runs } = parts;
    this.#parts = parts;
    this.#actor = actor;
    this.#table = actor.table ?? new ActorTable();
    const { instance, life, workflow } = actor;
    this.self = this.#table.at({ instance, life, workflow: workflow.name });
    this.children = children === NO_CHILDREN ? this.#made : this.#lazily();
    this.system = new StepSystem(runs[UNNAMED] ?? 0, (systemId) => this.#named(systemId));
  }

  get parent(): ActorAddress | undefined {
    const { parent } = this.#parts;
    if (parent === undefined) return undefined;
    const { instance, life = "", workflow } = parent;
    return (this.#parent ??= this.#table.at({ instance, life, workflow: nameOf(workflow) }));
  }

  idOf(actor: ActorAddress): string | undefined {
    return actor === this.self ? (this.#parts.parent?.id ?? this.#actor.instance) : this.childOf(actor)?.id;
  }

  parentOf(actor: ActorAddress): ActorAddress | undefined {
    if (actor === this.self) return this.parent;
    return this.childOf(actor) !== undefined || this.#wasChild(actor) ? this.self : undefined;
  }

  sourceOf(actor: ActorAddress): string | undefined {
    return this.childOf(actor)?.link?.src;
  }

  systemIdOf(actor: ActorAddress): string | undefined {
    return this.childOf(actor)?.link?.systemId;
  }

  snapshotOf(actor: ActorAddress): object | undefined {
    return actor === this.self ? this.present : undefined;
  }

  /** The child that the actor is; undefined for a stranger, and for an earlier life under the id of a child. */
  childOf(actor: object): KnownChild | undefined {
    const known = this.#known.get(actor);
    if (known !== undefined || !(actor instanceof ActorAddress)) return known;
    const id = this.#idWithin(actor.instance);
    return id !== undefined && this.children[id] === actor ? this.#known.get(actor) : undefined;
  }

  /** XState remembers children that have ended; a snapshot does not. */
  addEnded(id: string): void {
    const address = new ActorAddress({ instance: "", life: "", workflow: null });
    this.#known.set(address, { id });
    this.#made[id] = address;
  }

  /** Notes what XState has made for a child; nothing where the chart does not have it, which the step refuses. */
  begins(actor: object, child: BegunChild): void {
    const link = this.#linkOf(child);
    if (link !== undefined) this.#known.set(actor, { id: child.id, link });
  }

  /** The address of a child that begins. @throws ChartFault where the chart does not have it. */
  begun(child: BegunChild): ActorAddress {
    const link = this.#linkOf(child);
    if (link !== undefined) return this.#address({ id: child.id, link, isNew: true });
    // The step refuses it by its source.
    return new ActorAddress({ instance: child.id, life: "", workflow: null });
  }

  #address(child: LinkedChild): ActorAddress {
    const place = new ChildPlace(this.#actor, child);
    const address = new ActorAddress(place);
    const { id, link } = child;
    if (link.run !== undefined || link.life !== undefined) this.#table.keep(place.instance, address);
    this.#known.set(address, { id, link });
    if (link.systemId !== undefined) this.system.named.set(link.systemId, address);
    return address;
  }

  #linkOf({ id, src, systemId, hasAddress }: BegunChild): ChildLink | undefined {
    const { shape, runs, lives } = this.#parts;
    const name = sourceName(src, shape);
    const source = name === undefined ? undefined : shape.actors.get(name);
    if (name === undefined || source === undefined) return undefined;
    const link: Writable<ChildLink> = { src: name };
    if (source.kind !== "promise") {
      const begun = (this.#begun ??= new Map<string, number>());
      const earlier = begun.get(id) ?? 0;
      begun.set(id, earlier + 1);
      link.run = runAfter(runs, id) + earlier;
    }
    if (systemId !== undefined) link.systemId = systemId;
    if (!shape.invocations.has(id)) link.isSpawned = true;
    if (hasAddress === true || lives?.[id] === true) {
      const { stamp } = this.#actor;
      link.life = link.run === undefined ? `${stamp}:${(this.#promises += 1)}` : stamp;
    }
    return link;
  }

  #lazily(): Record<string, ActorAddress> {
    const { children } = this.#parts;
    const made = this.#made;
    return new Proxy(made, {
      get: (_, id) => (typeof id === "string" ? this.#earlier(id) : undefined),
      ownKeys: () => {
        for (const id in children) this.#earlier(id);
        return Reflect.ownKeys(made);
      },
    });
  }

  /** A child from before the step. */
  #earlier(id: string): ActorAddress | undefined {
    const { children } = this.#parts;
    const made = this.#made;
    const link = Object.hasOwn(children, id) ? children[id] : undefined;
    if (link === undefined || Object.hasOwn(made, id)) return made[id];
    const address = this.#interned({ id, link });
    this.#known.set(address, { id, link });
    return (made[id] = address);
  }

  /** The object that values of the step may hold for this child already. */
  #interned(child: LinkedChild): ActorAddress {
    const place = new ChildPlace(this.#actor, child);
    const { run, life } = child.link;
    if (life !== undefined) return this.#table.at(place);
    if (run === undefined) return new ActorAddress(place);
    const { instance } = place;
    if (this.#actor.asks === true && isRevived(instance) && this.#isGiven(instance)) {
      throw unknownLife(new LifeUnknown(child.id, instance, false));
    }
    const other = this.#table.of(instance);
    return other?.isUnknown === true ? other : this.#table.keep(instance, new ActorAddress(place));
  }

  #isGiven(instance: string): boolean {
    this.#given ??= instancesIn([this.present?.context, this.event]);
    return this.#given.has(instance);
  }

  /** Whether its instance is one of a child, of which the snapshot may not know any more. */
  #wasChild({ instance }: ActorAddress): boolean {
    const prefix = `${this.#actor.instance}/`;
    return instance.startsWith(prefix) && !instance.includes("/", prefix.length);
  }

  #idWithin(instance: string): string | undefined {
    const { children } = this.#parts;
    const prefix = `${this.#actor.instance}/`;
    if (!instance.startsWith(prefix)) return undefined;
    const name = instance.slice(prefix.length);
    const isRun = (id: string, run: number): boolean =>
      Object.hasOwn(children, id) && (children[id]?.run ?? 1) === run;
    if (isRun(name, 1)) return name;
    const [, id = "", run] = /^(.*)~(\d+)$/s.exec(name) ?? [];
    return run !== undefined && isRun(id, Number(run)) ? id : undefined;
  }

  #named(systemId: string): unknown {
    const { children, shape } = this.#parts;
    const actor = this.system.named.get(systemId);
    if (actor instanceof ActorAddress) return actor;
    const { id: begun, link } = (actor && this.#known.get(actor)) ?? {};
    if (begun !== undefined && link !== undefined) return this.#address({ id: begun, link, isNew: true });
    const id = Object.keys(children).find((child) => children[child]?.systemId === systemId);
    if (id !== undefined) return this.children[id];
    if (actor === undefined && !shape.systemIds.has(systemId)) throw notInSystem(systemId);
    return actor;
  }
}

/** The name of a logic among the actors of the chart. */
function sourceName(src: string | object, { actorNames }: StepChartParts): string | undefined {
  return typeof src === "string" ? src : actorNames.get(src);
}

function notInSystem(systemId: string): ChartFault {
  return new ChartFault(
    `system.get("${systemId}") finds children of this chart alone, and none has this systemId; tell its parent, or another instance`,
  );
}

const nothing = (): void => {};

/** The system of actors as a step sees it: `get` finds the children that have a `systemId`. */
class StepSystem {
  readonly named = new Map<string, object>();
  readonly get: (systemId: string) => unknown;
  readonly _register = nothing;
  readonly _unregister = nothing;
  readonly _sendInspectionEvent = nothing;
  readonly inspect = nothing;
  readonly _snapshot = { _scheduledEvents: {} };
  readonly _clock = { setTimeout: nothing, clearTimeout: nothing };
  readonly _logger = nothing;
  #booked: number;

  /** `booked` counts the names that children without one were given before. */
  constructor(booked: number, get: (systemId: string) => unknown) {
    this.#booked = booked;
    this.get = get;
  }

  /** A name for a child that the chart has not named. */
  bookId(): string {
    return `${SESSION_PREFIX}${(this.#booked += 1)}`;
  }

  _bookId(): string {
    return this.bookId();
  }

  _set(systemId: string, actor: object): void {
    this.named.set(systemId, actor);
  }
}
