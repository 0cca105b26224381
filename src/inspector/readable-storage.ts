/** A storage as it can be shown: where a stored text is damaged, a stand-in that says so takes its place, and all else is shown. */
import type { HistoryRecord, InstanceRecord } from "../../storage/storage.ts";
import type { InspectedStorage } from "../engine/inspected-engine.ts";
import { snapshotFromText } from "../workflow/snapshot-text.ts";

/** The state, and the type of an event, that a stand-in has. */
const DAMAGED = "damaged";

/** Reads the same, but for what cannot be read. */
export function readableStorage(storage: InspectedStorage): InspectedStorage {
  return {
    ...storage,
    async load(id) {
      const record = await storage.load(id);
      return record === null ? null : readableInstance(record);
    },
    async list(listing) {
      return (await storage.list(listing)).map(readableInstance);
    },
    async history(instance, page) {
      return (await storage.history(instance, page)).map(readableStep);
    },
  };
}

/** Whether the snapshot is a stand-in. */
export function isDamaged({ snapshot }: Pick<InstanceRecord, "snapshot">): boolean {
  return snapshot.startsWith(STAND_IN);
}

const STAND_IN = `{"value":"${DAMAGED}",`;

function readableInstance(record: InstanceRecord): InstanceRecord {
  if (isSnapshot(record.snapshot)) return record;
  const stored = `${record.snapshot.length} characters that are no snapshot`;
  const { status } = record;
  return { ...record, snapshot: `${STAND_IN}${JSON.stringify({ status, context: { stored } }).slice(1)}` };
}

function readableStep(row: HistoryRecord): HistoryRecord {
  const event = isEvent(row.event) ? row.event : JSON.stringify({ type: DAMAGED });
  const value = isValue(parsed(row.value)) ? row.value : JSON.stringify(DAMAGED);
  return { ...row, event, value };
}

function isSnapshot(text: string): boolean {
  try {
    const { value, context } = snapshotFromText(text);
    return isValue(value) && typeof context === "object" && context !== null;
  } catch {
    return false;
  }
}

function isEvent(text: string): boolean {
  const { type } = (parsed(text) ?? {}) as { readonly type?: unknown };
  return typeof type === "string";
}

function isValue(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
