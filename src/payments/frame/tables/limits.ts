/** Tables of limits: reservations, requests, spendings, the operator's rules, and daily volumes. */
import { ownTable, type Row } from "../../../../storage/table.ts";
import { rowOf, type TableReader, rowsOf } from "./read.ts";

/** Shares of something limited (the sponsor's lamports, the desk's inventory) that are promised to one transaction each. */
export const reservations = ownTable("reservations", {
  columns: {
    id: "text",
    /** Guards that what has lapsed is not kept, and what was kept does not lapse. */
    version: "integer",
    /** The limited resource, such as `sponsor <address>`. */
    resource: "text",
    amount: "amount",
    createdAt: "integer",
    /** Time from which other owners who need the room may release the reservation; null while its owner is at work. */
    lapsesAt: "integer?",
    releasedAt: "integer?",
  },
  indexes: {
    ofResource: ["resource", "releasedAt", "createdAt", "id"],
    lapsing: { on: ["resource", "lapsesAt", "id"], where: { releasedAt: null }, present: ["lapsesAt"] },
  },
  group: { by: ["resource"], open: "releasedAt", sum: "amount" },
});

export interface ReservationRecord extends Row<typeof reservations> {}

/** Counted requests in sliding windows that all processes on a database share. */
export const limitHits = ownTable("limitHits", {
  columns: { id: "text", accountId: "text", scope: "text", at: "integer" },
  indexes: { ofScope: ["accountId", "scope", "at"] },
  group: { by: ["accountId", "scope"], since: "at" },
});

export interface LimitHitRecord extends Row<typeof limitHits> {}

/** Spendings of the service's own purses: a row for each set of signed bytes. */
export const spendings = ownTable("spendings", {
  columns: {
    id: "text",
    /** The purse, named like the `resource` of reservations. */
    purse: "text",
    /** Base units that a landing costs for good. They count from the signature on, landed or not; of raised bids until they are dead. */
    amount: "amount",
    at: "integer",
  },
  indexes: { ofPurse: ["purse", "at", "id"] },
  group: { by: ["purse"], since: "at", sum: "amount" },
});

export interface SpendingRecord extends Row<typeof spendings> {}

/** Operators' rules for new requests: for every account (`service`), or for one (`account <id>`). */
export const gates = ownTable("gates", {
  columns: {
    id: "text",
    /** A commit that takes something expects the version that it has read the rules of. */
    version: "integer",
    /** Pauses, suspension and limits, as JSON text. */
    rules: "text",
  },
});

export interface GateRecord extends Row<typeof gates> {}

/** Amounts that were taken for accounts, counted against the operator's limits on a day. */
export const volumes = ownTable("volumes", {
  columns: {
    id: "text",
    /** The account, asset and direction of the amount. */
    scope: "text",
    at: "integer",
    amount: "amount",
  },
  indexes: { ofScope: ["scope", "at"] },
  group: { by: ["scope"], since: "at", sum: "amount" },
});

const openOf = (resource: string) =>
  ({
    table: reservations,
    index: "ofResource",
    equals: { resource, releasedAt: null },
    sum: "amount",
  }) as const;

export const limitReads = (read: TableReader) => ({
  /** Rows of a sliding window with `at > since`: how many, and when the oldest of them was. */
  async limitWindow(accountId: string, scope: string, since: number) {
    const window = { table: limitHits, index: "ofScope", equals: { accountId, scope }, after: [since] };
    const [{ count }, [oldest]] = await Promise.all([read.tally(window), read.find({ ...window, limit: 1 })]);
    return { count, oldest: oldest?.at ?? null };
  },
  /** The sum of a scope's volumes with `at > since`. */
  async volume(scope: string, since: number): Promise<bigint> {
    const ofScope = { table: volumes, index: "ofScope", equals: { scope }, after: [since] } as const;
    return (await read.tally({ ...ofScope, sum: "amount" })).total;
  },
  /** The amounts that were counted for transactions, by ids, in any order; unknown ones are left out. */
  volumes: (ids: readonly string[]) => rowsOf(read, volumes, ids),
  async reserved(resource: string): Promise<bigint> {
    return (await read.tally(openOf(resource))).total;
  },
  /** The same, counted anew from the rows: the database keeps that sum from then on. */
  async recounted(resource: string): Promise<bigint> {
    return (await read.tally({ ...openOf(resource), recount: true })).total;
  },
  /** Unreleased reservations of a resource, oldest first: as many as there are. */
  reservations: (resource: string) => read.find(openOf(resource)),
  /** Reservations, released or not, in any order; unknown ones are left out. */
  reservationsById: (ids: readonly string[]) => rowsOf(read, reservations, ids),
  /** A reservation, released or not. */
  reservation: (id: string) => rowOf(read, reservations, id),
  /**
   * Up to `limit` of those that lapse by themselves and are not released, the first one to lapse first; behind `last` where it
   * is given.
   */
  lapsing(resource: string, limit: number, last?: Pick<ReservationRecord, "lapsesAt" | "id">) {
    const { lapsesAt = null, id = "" } = last ?? {};
    const after = lapsesAt === null ? {} : { after: [lapsesAt, id] };
    return read.find({ table: reservations, index: "lapsing", equals: { resource }, ...after, limit });
  },
  /** The spending of a purse after `since`, in base units. */
  async spent(purse: string, since: number): Promise<bigint> {
    const ofPurse = { table: spendings, index: "ofPurse", equals: { purse }, after: [since] } as const;
    return (await read.tally({ ...ofPurse, sum: "amount" })).total;
  },
  /** The cost of one set of signed bytes for a purse. */
  spending: (id: string) => rowOf(read, spendings, id),
  /** Gates by their ids, in any order; absent ones are left out. */
  gates: (ids: readonly string[]) => rowsOf(read, gates, ids),
  /** Up to `limit` gates by ascending id, the first one above `after`. */
  gatesAfter: (after: string, limit: number) =>
    read.find({ table: gates, index: "key", after: [after], limit }),
});
