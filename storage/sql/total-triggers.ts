/** The triggers that keep the totals of groups: installed with their table, and made anew where its group is another. */
import type { AnyTable } from "../table.ts";
import { type GroupTotals, groupTotals, type TotalsDialect } from "./group-totals.ts";
import { digest, listed, quoted } from "./statement.ts";

/** A trigger that there is. */
export interface FoundTrigger {
  readonly table: string;
  readonly name: string;
  /** 0 where it keeps totals of another schema: its own was renamed since. */
  readonly here: number;
}

/** The parts of triggers that differ by database. */
export interface TriggerDialect {
  readonly totals: TotalsDialect;
  /** Makes those of a table; other triggers have other names. */
  readonly triggers: (name: string, totals: GroupTotals) => readonly string[];
  readonly dropTrigger: (name: string) => string;
}

/**
 * The statements after which the database keeps the totals of a table; none where it does. They stand around the other changes to
 * a table: a column can only be dropped without a trigger over it.
 */
export function planTotals(
  table: AnyTable,
  found: readonly FoundTrigger[],
  dialect: TriggerDialect,
): { readonly before: readonly string[]; readonly after: readonly string[] } {
  const { sqlName: name } = table;
  const totals = groupTotals(table, dialect.totals);
  const made = found.filter((each) => each.table === name && MADE.test(each.name));
  const trigger = totals && `${name}_total_${digest(dialect.triggers(name, totals).join("\n"))}`;
  if (made.some((each) => each.name === trigger && each.here === 1)) return { before: [], after: [] };
  const before = made.map((each) => dialect.dropTrigger(each.name));
  if (totals === null || trigger === null) return { before, after: [] };
  return { before, after: [...dialect.triggers(trigger, totals), ...totals.counting(null)] };
}

const MADE = /_total_[0-9a-f]{8}(_[a-z]+)?$/;

/** Three triggers, since one of SQLite has one event. */
export const sqliteTriggers: TriggerDialect["triggers"] = (name, totals) => {
  const table = quoted(totals.table.sqlName);
  const add = totals.change("new.", "");
  const subtract = `${totals.change("old.", "-")}; ${totals.clearing("old.")}`;
  const [counted, counts] = [totals.counts("old."), totals.counts("new.")];
  const update = `update of ${listed(totals.fields)}`;
  const events = [
    ["", "insert", counts, add],
    ["_delete", "delete", counted, subtract],
    ["_update", update, `${counted} or ${counts}`, `${add}; ${subtract}`],
  ] as const;
  return events.map(
    ([ending, event, when, acts]) =>
      `create trigger ${quoted(`${name}${ending}`)} after ${event} on ${table} when ${when} begin ${acts}; end`,
  );
};

/** The same function for all events, with the schema of its installation. */
export const postgresTriggers: TriggerDialect["triggers"] = (name, totals) => [
  `create or replace function ${quoted(name)}() returns trigger language plpgsql set search_path from current as $body$
  begin
    if tg_op <> 'DELETE' then ${totals.change("new.", "")}; end if;
    if tg_op <> 'INSERT' then
      ${totals.change("old.", "-")};
      ${totals.clearing("old.")};
    end if;
    return null;
  end $body$`,
  `create trigger ${quoted(name)} after insert or delete or update of ${listed(totals.fields)} on ${quoted(totals.table.sqlName)}
    for each row execute function ${quoted(name)}()`,
];
