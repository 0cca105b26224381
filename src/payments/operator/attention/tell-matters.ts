/** Tells the host of each matter once when it begins and once when it is over, whichever process sees it. */
import type { MatterRecord } from "../../records.ts";
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import type { Clock, Logger } from "../../../runtime.ts";
import { isoTime } from "../../iso-time.ts";
import type { Look, LookForMatters } from "./list-matters.ts";
import { shownMatter } from "./list-matters.ts";
import type { Matter, MatterKind } from "./matter.ts";

/** What the host is told. */
export interface AttentionNews {
  /** `waiting`: a matter needs a person. `over`: it does not any more. */
  readonly state: "waiting" | "over";
  /** Without actions once it is over. */
  readonly matter: Matter;
}

/**
 * Told of each matter once when it begins and once when it is over, by one of the processes on a database. Which was told
 * is stored, so a restart repeats nothing; a process that ends while it tells, a callback that rejects and one that takes
 * longer than ten seconds are told again.
 */
export type OnAttention = (news: AttentionNews) => void | Promise<void>;

export interface MatterReport {
  /** One look, and everything there is to tell. Rejects when the storage does. */
  look(): Promise<void>;
  /** Looks twice a minute until `stop`. */
  run(): void;
  /** Ends the looks, and waits up to `timeoutMs` for what the host is being told. */
  stop(timeoutMs: number): Promise<void>;
}

const LOOK_MS = 30_000;
/** Of each source; more are told as these are resolved. */
const MAX_TOLD = 200;
const CALLBACK_MS = 10_000;
/** How long another process leaves what one began to tell. */
const TELLING_MS = 60_000;

export function createMatterReport({
  storage,
  clock,
  log,
  lookForMatters,
  onAttention,
}: {
  readonly storage: Pick<PaymentStorage, "openMatters" | "matters" | "commit">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lookForMatters: LookForMatters;
  readonly onAttention: OnAttention | null;
}): MatterReport {
  const commit = async (write: PaymentWrite): Promise<boolean> =>
    (await storage.commit([{ writes: [write] }]))[0]?.ok === true;

  /** Rejects unless the host has taken it in time. */
  const callHost = async (news: AttentionNews): Promise<void> => {
    const ended = new AbortController();
    const deadline = clock.sleep(CALLBACK_MS, ended.signal).then((): void => {
      if (!ended.signal.aborted) throw new Error(`onAttention did not end within ${CALLBACK_MS} ms`);
    });
    try {
      await Promise.race([Promise.resolve(onAttention?.(news)), deadline]);
    } finally {
      ended.abort();
    }
  };

  /** Whether the host knows now. It is told outside of any commit, so that it may take its time. */
  const tell = async (news: AttentionNews): Promise<boolean> => {
    const { kind, id, transactionId, accountId, message } = news.matter;
    const fields = { kind, id, transactionId, accountId };
    try {
      await callHost(news);
    } catch (err) {
      log.error({ ...fields, err }, "onAttention failed; it is called again for this matter");
      return false;
    }
    if (news.state === "waiting") log.warn(fields, `needs a person: ${message}`);
    else log.info(fields, "a matter that needed a person is over");
    return true;
  };

  /** The row of a matter that begins, held by this process; null when another holds it, or it was told. */
  const begin = async (
    found: Look["matters"][number],
    row: MatterRecord | undefined,
  ): Promise<MatterRecord | null> => {
    const now = clock.now();
    const isKnown = row?.state === "waiting";
    if (isKnown && (row.toldAt !== null || (row.tellingUntil ?? 0) > now)) return null;
    const { id, kind, transactionId = null, accountId = null, message, since } = found;
    const set = {
      ...{ kind, state: "waiting" as const, transactionId, accountId, message, since },
      ...{ toldAt: null, tellingUntil: now + TELLING_MS },
    };
    const next: MatterRecord = { id, version: (row?.version ?? 0) + 1, ...set };
    const write: PaymentWrite =
      row === undefined
        ? { table: "matters", insert: next }
        : { table: "matters", id, set, expectedVersion: row.version };
    return (await commit(write)) ? next : null;
  };

  const tellBeginning = async (
    found: Look["matters"][number],
    row: MatterRecord | undefined,
  ): Promise<void> => {
    const begun = await begin(found, row);
    if (begun === null) return;
    const isTold = await tell({ state: "waiting", matter: shownMatter(found) });
    const set = { toldAt: isTold ? clock.now() : null, tellingUntil: isTold ? null : begun.tellingUntil };
    await commit({ table: "matters", id: begun.id, set, expectedVersion: begun.version });
  };

  const tellEnd = async (row: MatterRecord): Promise<void> => {
    const now = clock.now();
    if ((row.tellingUntil ?? 0) > now) return;
    const { id, version } = row;
    // Whose beginning nobody was told of has no end to be told.
    const isSilent = row.state === "waiting" && row.toldAt === null;
    const over = { state: "over" as const, tellingUntil: null };
    if (isSilent) {
      await commit({ table: "matters", id, set: over, expectedVersion: version });
      return;
    }
    const set = { state: "ending" as const, tellingUntil: now + TELLING_MS };
    if (!(await commit({ table: "matters", id, set, expectedVersion: version }))) return;
    if (await tell({ state: "over", matter: shownRow(row) })) {
      await commit({ table: "matters", id, set: over, expectedVersion: version + 1 });
    }
  };

  const report = async (open: readonly MatterRecord[], { matters, truncated }: Look): Promise<void> => {
    const rows = matters.length === 0 ? [] : await storage.matters(matters.map(({ id }) => id));
    const known = new Map(rows.map((row) => [row.id, row]));
    for (const found of matters) await tellBeginning(found, known.get(found.id));
    const found = new Set(matters.map(({ id }) => id));
    const gone = open.filter(({ id, kind }) => !found.has(id) && !truncated.has(kind as MatterKind));
    for (const row of gone) await tellEnd(row);
  };

  let running: AbortController | null = null;
  let reporting: Promise<void> = Promise.resolve();

  /** A look reads the chain too, which may take long: `stop` waits only for what is told. */
  const look = async (signal?: AbortSignal): Promise<void> => {
    const open = await storage.openMatters(MAX_TOLD * 10);
    const found = await lookForMatters(MAX_TOLD);
    if (signal?.aborted === true) return;
    reporting = report(open, found);
    await reporting;
  };

  const keepLooking = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      await look(signal).catch((err: unknown) => {
        if (!signal.aborted) log.error({ err }, "it could not be looked for what needs a person");
      });
    }
  };

  return {
    look: () => look(),
    run() {
      if (running !== null) return;
      running = new AbortController();
      void keepLooking(running.signal);
    },
    async stop(timeoutMs) {
      running?.abort();
      running = null;
      const patience = new AbortController();
      await Promise.race([reporting.catch(() => undefined), clock.sleep(timeoutMs, patience.signal)]);
      patience.abort();
    },
  };
}

function shownRow({ id, kind, transactionId, accountId, message, since }: MatterRecord): Matter {
  return {
    ...{ kind: kind as MatterKind, id },
    ...(transactionId === null ? {} : { transactionId }),
    ...(accountId === null ? {} : { accountId }),
    ...{ since: isoTime(since), message, actions: [] },
  };
}
