/** What no table and no column of a caller can be called, on any database: one that begins on SQLite goes on in PostgreSQL. */
import { expect, test } from "vitest";
import { defineTable } from "../../storage/table.ts";

test.each(["paystateNotes", "PAYSTATETASKS", "pg_notes", "sqlite_notes"])(
  "no table can be called %s",
  (name) => {
    expect(() => defineTable(name, { columns: { id: "text" } })).toThrow(/choose another$/);
  },
);

test.each(["seq", "xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"])(
  "no column can be called %s",
  (field) => {
    expect(() => defineTable("notes", { columns: { id: "text", [field]: "text" } })).toThrow(
      /no column can be called/,
    );
  },
);

test("D58: a group by nothing is refused where the table is defined", () => {
  const columns = { id: "text", at: "integer" } as const;
  expect(() => defineTable("notes", { columns, group: { by: [], since: "at" } })).toThrow(
    "group: by names no column",
  );
});
