/** Matters that one process sees and others cannot, such as endpoints that differ: every process lists a sighting while its process repeats it. */
import type { MatterRecord } from "../../tables/operator.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import type { Clock } from "../../../runtime.ts";
import { storageTime } from "../../storage-time.ts";
import type { AttentionSource, FoundMatter, MatterKind } from "./matter.ts";

/** Longer than three looks: a process that has said nothing for that long has ended, or sees it no more. */
const STANDS_MS = 100_000;
/** More than there are at a time, among other matters that are open. */
const MOST_OPEN = 2_000;

/** Where it is stored what others see. */
interface SightingParts {
  readonly storage: Pick<PaymentStorage, "openMatters" | "time">;
  readonly clock: Clock;
}

/** The sightings of one process, and what it knows of those of others. */
export class SightingList {
  readonly #parts: SightingParts;
  /** The version of a matter's row in which this process last said that it sees it. */
  readonly #said = new Map<string, number>();

  constructor(parts: SightingParts) {
    this.#parts = parts;
  }

  /** The time of a sighting: processes whose clocks differ agree on it. */
  now(): Promise<number> {
    return storageTime(this.#parts);
  }

  /** This process has said that it sees the matter, and made this version of its row. */
  said(id: string, version: number): void {
    this.#said.set(id, version);
  }

  /** What `own` finds in this process, and what other processes say they see. */
  of(kind: MatterKind, own: AttentionSource): AttentionSource {
    return async (limit) => {
      const seen = (await own(limit)).map((each): FoundMatter => ({ ...each, isSighting: true }));
      const known = new Set(seen.map(({ id }) => id));
      const open = await this.#parts.storage.openMatters(MOST_OPEN);
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
