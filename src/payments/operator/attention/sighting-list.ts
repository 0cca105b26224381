/**
 * Sightings: matters that only one process can see, such as disagreeing endpoints. Every process lists a sighting while
 * the process that sees the matter keeps reporting it.
 */
import type { MatterRecord } from "../../frame/tables/operator.ts";
import type { FrameStorage } from "../../frame/frame-storage.ts";
import type { Clock } from "../../../core/runtime.ts";
import { storageTime } from "../../frame/service-context.ts";
import type { AttentionSource, FoundMatter, MatterKind } from "../../frame/acts/matter.ts";

/** Longer than three looks: a process that has said nothing for that long has ended, or sees it no more. */
const STANDS_MS = 100_000;

interface SightingParts {
  readonly storage: Pick<FrameStorage, "openMatters" | "time">;
  readonly clock: Clock;
}

/** Manages the sightings of this process, and reads the sightings of other processes. */
export class SightingList {
  readonly #parts: SightingParts;
  /** By matter: the version of the row that this process wrote with its last report. */
  readonly #said = new Map<string, number>();

  constructor(parts: SightingParts) {
    this.#parts = parts;
  }

  /** The time of a sighting: processes whose clocks differ agree on it. */
  now(): Promise<number> {
    return storageTime(this.#parts);
  }

  /** Records the row version in which this process last reported the matter. */
  said(id: string, version: number): void {
    this.#said.set(id, version);
  }

  /** Lists the matters found by `own` in this process, and the matters reported by other processes. */
  of(kind: MatterKind, own: AttentionSource): AttentionSource {
    return async (limit) => {
      const seen = (await own(limit)).map((each): FoundMatter => ({ ...each, isSighting: true }));
      const known = new Set(seen.map(({ id }) => id));
      const open = await this.#parts.storage.openMatters();
      const told = open.filter((row) => row.kind === kind && !known.has(row.id));
      if (told.length === 0) return seen;
      const now = await this.now();
      const others = told.filter((row) => this.#isSeenByOthers(row, now)).map((row) => foundIn(row, kind));
      return [...seen, ...others].slice(0, limit);
    };
  }

  #isSeenByOthers({ id, version, state, seenAt }: MatterRecord, now: number): boolean {
    if (state !== "waiting" || seenAt === null || version === this.#said.get(id)) return false;
    return now - seenAt < STANDS_MS;
  }
}

function foundIn({ id, since, message }: MatterRecord, kind: MatterKind): FoundMatter {
  return { kind, id, since, message, actions: [] };
}
