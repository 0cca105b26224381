/** A storage as webhooks sees it: with its own tables and reads beside the frame's. */
import type { Commit, CommitAnswer, Write } from "../../../storage/storage.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import type { FrameTables, RowsOf } from "../frame/tables.ts";
import type { webhookReads, webhookTables } from "./tables.ts";

export type WebhookTables = FrameTables & RowsOf<typeof webhookTables>;

export type WebhookWrite = Write<WebhookTables>;

export interface WebhookStorage extends FrameStorage, Readonly<ReturnType<typeof webhookReads>> {
  commit(items: readonly Commit<WebhookTables>[]): Promise<readonly CommitAnswer[]>;
}
