/** What no table and no column of a caller can be called, on any database: one that begins on SQLite goes on in PostgreSQL. */
import { expect, test } from "vitest";
import { defineTable } from "../../storage/table.ts";

test.each(["tasks", "narrowedLanes", "tasks_steps", "INSTANCES_key", "paystateNotes", "pg_notes"])(
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
