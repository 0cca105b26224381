/** A storage as private mode sees it: with its own tables and reads beside the frame's. */
import type { Commit, CommitAnswer, Write } from "../../../storage/storage.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import type { FrameTables, RowsOf } from "../frame/tables.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import type { privateReads, privateTables } from "./tables.ts";

export type PrivateTables = FrameTables & RowsOf<typeof privateTables>;

export type PrivateWrite = Write<PrivateTables>;

export interface PrivateStorage extends FrameStorage, Readonly<ReturnType<typeof privateReads>> {
  commit(items: readonly Commit<PrivateTables>[]): Promise<readonly CommitAnswer[]>;
}

/** The context of the service with this storage. */
export interface PrivateContext extends ServiceContext<PrivateStorage> {}
