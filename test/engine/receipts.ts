/** A table as two programs describe it: the newer one has a column more, and its index in another order. */
import { defineTable, type Table } from "paystate/engine";

export interface Receipt {
  readonly id: string;
  readonly job: string;
  readonly by: string;
}

export const receiptsOf = (version: string): Table<Receipt> =>
  version === "new"
    ? defineTable("receipts", {
        columns: { id: "text", job: "text", by: "text", note: "text?" },
        unique: ["job"],
        indexes: { ofProgram: ["by", "job"] },
        migrations: [{ add: { note: null }, beside: true }],
      })
    : defineTable("receipts", {
        columns: { id: "text", job: "text", by: "text" },
        unique: ["job"],
        indexes: { ofProgram: ["by", "id"] },
      });
