/** Removes notices of transactions that are over, with all that modules keep of them: they go together, or not at all. */
import type { FrameStorage } from "../frame-storage.ts";
import type { NoticeRecord } from "../tables/notices.ts";
import type { LeavingParts } from "./leaving.ts";
import type { OldRowRule } from "./old-rows.ts";
import { archivedRows, isOver, type Removal } from "./removal.ts";

/** The dependents of a notice from before `until`; null while it has to stay. */
export type GoesWithNotice = (notice: NoticeRecord, until: number) => Promise<Removal | null>;

interface NoticeParts {
  readonly storage: FrameStorage;
  readonly goesWith: readonly GoesWithNotice[];
}

export function oldNotices(parts: NoticeParts, keepMs: number | null): OldRowRule<NoticeRecord> {
  return {
    name: "notices",
    keepMs,
    page: (after, limit) => parts.storage.noticesAfter(after?.id ?? "", limit),
    async look(notice, until) {
      const removal = await noticeRemoval(parts, notice, until);
      return removal === null ? "later" : { before: [], removal: async () => removal };
    },
  };
}

/** Null while its transaction may tell more, and while a module keeps it. */
async function noticeRemoval(
  { storage, goesWith }: NoticeParts,
  notice: NoticeRecord,
  until: number,
): Promise<Removal | null> {
  const { id, transactionId, createdAt } = notice;
  if (createdAt > until || !(await isOver(storage, transactionId))) return null;
  const all = await Promise.all(goesWith.map((removalOf) => removalOf(notice, until)));
  const others = all.filter((part) => part !== null);
  if (others.length < all.length) return null;
  return {
    removes: others.flatMap(({ removes }) => removes),
    writes: [{ table: "notices", remove: id }, ...others.flatMap(({ writes }) => writes)],
    rows: [...archivedRows("notices", [notice]), ...others.flatMap(({ rows }) => rows)],
  };
}

/** The removals of a transaction's notices; null while one of them has to stay. */
export function noticeRemovals(parts: NoticeParts): LeavingParts["noticeRemovals"] {
  return async (transactionId, until) => {
    const told = await parts.storage.notices(transactionId);
    const notices = await Promise.all(told.map((each) => noticeRemoval(parts, each, until)));
    const whole = notices.filter((removal) => removal !== null);
    return whole.length < notices.length ? null : whole;
  };
}
