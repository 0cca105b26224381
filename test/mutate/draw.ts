/** Draws places by a seed: every room in turn, and in a room every file, so that a large one is broken no more often. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { Place } from "./places.ts";

/** Folders below these belong to the room above them. */
const ROOM_LEVELS = 3;

/** The room of a source, such as `src/payments/private`. */
export const roomOf = (file: string): string => dirname(file).split("/").slice(0, ROOM_LEVELS).join("/");

/** What tells a place from all others, whatever is written elsewhere in its file. */
export const identityOf = ({
  file,
  text,
  change,
  occurrence,
}: Pick<Place, "file" | "text" | "change" | "occurrence">): string =>
  JSON.stringify([file, text, change, occurrence]);

/** All places, in an order that the seed says: a longer draw begins with a shorter one. */
export function drawnBy(seed: number, places: readonly Place[]): readonly Place[] {
  const draw = new Draw(seed);
  const rooms = draw.groups(draw.shuffled(places, identityOf), ({ file }) => roomOf(file));
  return inTurn(rooms.map((room) => inTurn(draw.groups(room, ({ file }) => file))));
}

class Draw {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  shuffled<Item>(items: readonly Item[], nameOf: (item: Item) => string): readonly Item[] {
    const lots = new Map(items.map((item) => [item, this.#lotOf(nameOf(item))]));
    return items.toSorted((a, b) => (lots.get(a) ?? 0) - (lots.get(b) ?? 0));
  }

  /** Those of one name together, in their order; the names in one of the seed. */
  groups<Item>(items: readonly Item[], nameOf: (item: Item) => string): readonly (readonly Item[])[] {
    const groups = new Map<string, Item[]>();
    for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
    return this.shuffled([...groups], ([name]) => name).map(([, group]) => group);
  }

  #lotOf(name: string): number {
    return createHash("sha256").update(`${this.#seed} ${name}`).digest().readUIntBE(0, 6);
  }
}

/** The first of each group, then the second of each. */
function inTurn<Item>(groups: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) =>
    groups.flatMap((group) => group.slice(turn, turn + 1)),
  ).flat();
}
