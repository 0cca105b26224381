/** Tells the host of each matter once when it begins and once when it is over, whichever process sees it. */
import type { FrameStorage, FrameWrite } from "../../frame/frame-storage.ts";
import { type MatterLookup, type DatedMatter, type MatterList, shownMatter } from "./list-matters.ts";
import { commitOne } from "../../../../storage/decided.ts";
import type { MatterRecord } from "../../frame/tables/operator.ts";
import type { Clock, Logger } from "../../../core/runtime.ts";
import { isoTime } from "../../frame/iso-time.ts";
import { callHost } from "../../frame/host-parts.ts";
import { sourceOfMatter, type Matter, type MatterKind } from "../../frame/acts/matter.ts";
import type { SightingList } from "./sighting-list.ts";

/** The host's news about a matter. */
export interface AttentionChange {
  /** `waiting`: a matter needs a person. `over`: it does not any more. */
  readonly state: "waiting" | "over";
  /** Without actions once it is over. */
  readonly matter: Matter;
}

/**
 * Told of each matter once when it begins and once when it is over, by one of the processes on a database. Which was
 * told is stored, so a restart repeats nothing; if the process ends meanwhile, or the callback rejects or takes longer
 * than `onAttentionDeadlineMs`, the matter is told again.
 */
export type AttentionListener = (news: AttentionChange) => void | Promise<void>;

interface MatterReportWriterParts {
  readonly storage: Pick<FrameStorage, "matters" | "commit">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sightings: Pick<SightingList, "now" | "said">;
  readonly onAttention: AttentionListener | null;
  /** The deadline of a call of `onAttention`, in milliseconds. */
  readonly onAttentionDeadlineMs: number;
}

/** The time beyond the deadline in which other processes leave a matter alone that one process has begun to tell. */
const TELLING_MS = 50_000;

/**
 * The rows of matters. A process takes the right to tell by a commit that expects the version it has read. The process tells
 * the host outside of any commit, without haste, and then stores that it has told.
 */
class MatterReportWriter {
  readonly #parts: MatterReportWriterParts;

  constructor(parts: MatterReportWriterParts) {
    this.#parts = parts;
  }

  /** Tells new matters of a look, and the end of `open` rows that the look did not find. */
  async tellAll(open: readonly MatterRecord[], { matters, truncated }: MatterList): Promise<void> {
    const { storage } = this.#parts;
    const rows = matters.length === 0 ? [] : await storage.matters(matters.map(({ id }) => id));
    const known = new Map(rows.map((row) => [row.id, row]));
    for (const found of matters) await this.#tellBeginning(found, known.get(found.id));
    const found = new Set(matters.map(({ id }) => id));
    const gone = open.filter((row) => !found.has(row.id) && !truncated.has(sourceOfMatter(row)));
    for (const row of gone) await this.#tellEnd(row);
  }

  async #tellBeginning(found: DatedMatter, row: MatterRecord | undefined): Promise<void> {
    const begun = await this.#begin(found, row);
    if (begun === null) {
      if (found.isSighting === true && row?.state === "waiting") await this.#sayAgain(row);
      return;
    }
    const isTold = await this.#tell({ state: "waiting", matter: shownMatter(found) });
    const toldAt = isTold ? this.#parts.clock.now() : null;
    const set = { toldAt, tellingUntil: isTold ? null : begun.tellingUntil };
    await this.#commit({ table: "matters", id: begun.id, set, expectedVersion: begun.version });
    if (found.isSighting === true) this.#parts.sightings.said(begun.id, begun.version + 1);
  }

  /**
   * Renews the report of a sighting; other processes list the matter as long as the report is renewed. A report by
   * another process counts as well.
   */
  async #sayAgain({ id, version }: MatterRecord): Promise<void> {
    const seenAt = await this.#parts.sightings.now();
    const isSaid = await this.#commit({
      table: "matters",
      id,
      set: { seenAt },
      expectedVersion: version,
    });
    if (isSaid) this.#parts.sightings.said(id, version + 1);
  }

  /**
   * Begins a matter: its row, held by this process; null when another process holds the row, or the host was told
   * already.
   */
  async #begin(found: DatedMatter, row: MatterRecord | undefined): Promise<MatterRecord | null> {
    const now = this.#parts.clock.now();
    const isKnown = row?.state === "waiting";
    if (isKnown && (row.toldAt !== null || (row.tellingUntil ?? 0) > now)) return null;
    const { id, kind, transactionId = null, accountId = null, message, since } = found;
    const seenAt = found.isSighting === true ? await this.#parts.sightings.now() : (row?.seenAt ?? null);
    const set = {
      kind,
      state: "waiting" as const,
      transactionId,
      accountId,
      message,
      since,
      toldAt: null,
      tellingUntil: this.#tellingUntil(now),
      seenAt,
    };
    const next: MatterRecord = { id, version: (row?.version ?? 0) + 1, ...set };
    const write: FrameWrite =
      row === undefined
        ? { table: "matters", insert: next }
        : { table: "matters", id, set, expectedVersion: row.version };
    return (await this.#commit(write)) ? next : null;
  }

  async #tellEnd(row: MatterRecord): Promise<void> {
    const now = this.#parts.clock.now();
    if ((row.tellingUntil ?? 0) > now) return;
    const { id, version } = row;
    // Its beginning was never reported to the host, so there is no end to tell.
    const isSilent = row.state === "waiting" && row.toldAt === null;
    const over = { state: "over" as const, tellingUntil: null };
    if (isSilent) {
      await this.#commit({ table: "matters", id, set: over, expectedVersion: version });
      return;
    }
    const set = { state: "ending" as const, tellingUntil: this.#tellingUntil(now) };
    if (!(await this.#commit({ table: "matters", id, set, expectedVersion: version }))) return;
    if (await this.#tell({ state: "over", matter: shownRow(row) })) {
      await this.#commit({ table: "matters", id, set: over, expectedVersion: version + 1 });
    }
  }

  #tellingUntil(now: number): number {
    return now + this.#parts.onAttentionDeadlineMs + TELLING_MS;
  }

  /** Whether the host knows now. */
  async #tell(news: AttentionChange): Promise<boolean> {
    const { clock, log, onAttention, onAttentionDeadlineMs: deadlineMs } = this.#parts;
    const { kind, id, transactionId, accountId, message } = news.matter;
    const fields = { kind, id, transactionId, accountId };
    try {
      const call = async (): Promise<void> => onAttention?.(news);
      await callHost(clock, { name: "onAttention", deadlineMs, call });
    } catch (err) {
      log.error({ ...fields, err }, "onAttention failed; it is called again for this matter");
      return false;
    }
    if (news.state === "waiting") log.warn(fields, `needs a person: ${message}`);
    else log.info(fields, "a matter that needed a person is over");
    return true;
  }

  async #commit(write: FrameWrite): Promise<boolean> {
    return (await commitOne(this.#parts.storage, { writes: [write] })).ok;
  }
}

function shownRow({ id, kind, transactionId, accountId, message, since }: MatterRecord): Matter {
  return {
    kind: kind as MatterKind,
    id,
    ...(transactionId === null ? {} : { transactionId }),
    ...(accountId === null ? {} : { accountId }),
    since: isoTime(since),
    message,
    actions: [],
  };
}

const LOOK_MS = 30_000;
/** The most new matters of each source that one look tells; the next look tells further ones. */
const NEW_IN_A_LOOK = 200;

/** Sources of matters, and dependencies of reporting them. */
interface MatterReportLoopParts extends MatterReportWriterParts {
  readonly storage: Pick<FrameStorage, "openMatters" | "matters" | "commit">;
  readonly lookForMatters: MatterLookup;
}

/** The looks of one process, twice a minute. */
export class MatterReportLoop {
  readonly #parts: MatterReportLoopParts;
  readonly #telling: MatterReportWriter;
  #running: AbortController | null = null;
  #reporting: Promise<void> = Promise.resolve();

  constructor(parts: MatterReportLoopParts) {
    this.#parts = parts;
    this.#telling = new MatterReportWriter(parts);
  }

  /** Looks once and tells everything there is to tell. Rejects when the storage does. */
  look(): Promise<void> {
    return this.#look(new AbortController().signal);
  }

  /** Looks twice a minute until `stop`. */
  run(): void {
    if (this.#running !== null) return;
    this.#running = new AbortController();
    void this.#keepLooking(this.#running.signal);
  }

  /** Ends the looks, and waits up to `timeoutMs` for the calls of the host. */
  async stop(timeoutMs: number): Promise<void> {
    this.#running?.abort();
    this.#running = null;
    const waiting = new AbortController();
    const reported = this.#reporting.catch(() => undefined);
    await Promise.race([reported, this.#parts.clock.sleep(timeoutMs, waiting.signal)]);
    waiting.abort();
  }

  /** A look reads the chain too, which may take long: `stop` waits only for what is told. */
  async #look(signal: AbortSignal): Promise<void> {
    const open = await this.#parts.storage.openMatters();
    // However many of one source are known already, they leave room for new ones.
    const found = await this.#parts.lookForMatters(open.length + NEW_IN_A_LOOK);
    if (signal.aborted) return;
    this.#reporting = this.#telling.tellAll(open, found);
    await this.#reporting;
  }

  async #keepLooking(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      await this.#look(signal).catch((err: unknown) => {
        if (!signal.aborted) log.error({ err }, "looking for what needs a person failed");
      });
    }
  }
}
