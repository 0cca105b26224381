/** A storage as the frame sees it: with the tables and reads of the frame. A module's own storage has the module's too. */
import type { Commit, CommitAnswer, EngineStorage, Write } from "../../../storage/storage.ts";
import type { FrameTables } from "./tables.ts";
import { attemptReads } from "./tables/attempts.ts";
import { databaseReads } from "./tables/database.ts";
import { identityReads } from "./tables/identity.ts";
import { limitReads } from "./tables/limits.ts";
import { noticeReads } from "./tables/notices.ts";
import { operatorReads } from "./tables/operator.ts";
import { orderReads } from "./tables/orders.ts";
import type { TableReader } from "./tables/read.ts";

export type FrameWrite = Write<FrameTables>;

/** Reads of the frame's tables, made of the reading part of a storage. */
export const frameReads = (read: TableReader) => ({
  ...databaseReads(read),
  ...identityReads(read),
  ...orderReads(read),
  ...attemptReads(read),
  ...noticeReads(read),
  ...limitReads(read),
  ...operatorReads(read),
});

export type FrameReads = Readonly<ReturnType<typeof frameReads>>;

export interface FrameStorage extends EngineStorage, FrameReads {
  commit(items: readonly Commit<FrameTables>[]): Promise<readonly CommitAnswer[]>;
}
