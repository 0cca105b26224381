/** Database functions for limits: locks in one order, and the rooms of keys. */
import { MAX_BEFORE, MAX_HEADS } from "../../limits.ts";
import { SOONEST_FIRST, UNHELD } from "../../sql/task-statements.ts";
import { CLOCK } from "../database-clock.ts";

/** The due time of a task that is given back, retried or amended. */
export const dueOf = (given: string): string => `"dueAt" = (${given}->>'dueAt')::bigint,
      "visibleAt" = coalesce((${given}->>'visibleAt')::bigint, ${CLOCK} + (${given}->>'delayMs')::bigint),
      "delayMs" = (${given}->>'delayMs')::bigint`;

/** Runs in the transaction of its caller: locks taken here are held until that ends, in one order everywhere. */
const lockAll = `
create or replace function paystate_lock_@(names jsonb) returns void language plpgsql as $body$
declare
  name bigint;
begin
  for name in
    select distinct hashtextextended(current_schema() || '/' || each, 0)
    from jsonb_array_elements_text(names) each order by 1
  loop
    perform pg_advisory_xact_lock(name);
  end loop;
end $body$;`;

/** With more first keys a commit locks the whole of all keys: the server has room for some thousand locks. */
const MAX_KEYS = 1_000;

const hashOf = (name: string): string => `hashtextextended(current_schema() || ${name}, 0)`;
const ALL_LIMITS = hashOf("'/limits'");

/** Before anything else is locked. A commit with few keys shares the lock of all limits, one with many has it alone. */
const lockLimits = `
create or replace function paystate_lock_limits_@(keys text[]) returns void language plpgsql as $body$
begin
  if coalesce(cardinality(keys), 0) = 0 then return; end if;
  if cardinality(keys) > ${MAX_KEYS} then
    perform pg_advisory_xact_lock(${ALL_LIMITS});
  else
    perform pg_advisory_xact_lock_shared(${ALL_LIMITS});
    perform paystate_lock_@((select jsonb_agg('limit/' || key) from unnest(keys) key));
  end if;
end $body$;`;

/** Locks the rooms under a first key unless somebody else has them: a claim waits for nobody, since it holds tasks. */
export const tryLimit = (key: string): string =>
  `(pg_try_advisory_xact_lock_shared(${ALL_LIMITS}) and pg_try_advisory_xact_lock(${hashOf(`'/limit/' || ${key}`)}))`;

/** Alone with all keys: an override may let in tasks under any first key, unknown to what is armed beside it. */
export const LOCK_ALL_LIMITS = `perform pg_advisory_xact_lock(${ALL_LIMITS});`;

/** How many tasks of a key of this task may have room. An override comes before its own number; a message has none. */
const mostOf = (key: string, own: string): string =>
  `coalesce((select o."atMost" from "paystateLimits" o where o.key = ${key} and t.kind <> 'message'), ${own})`;

const admittedUnder = `(select count(*) from "paystateTasks" a
      where a."deadAt" is null and a."firstKey" = t."firstKey" and a.admission = 'admitted')`;

const FIRST_HAS_ROOM = `${admittedUnder} < ${mostOf(`t."firstKey"`, `t."firstRoom"`)}`;

/** Whether the keys of a task have room for it. Its first key is locked, so nobody else takes the room. */
const hasRoom = `
create or replace function paystate_has_room_@(t "paystateTasks") returns boolean language sql as $body$
  select t."firstKey" is null or t.admission = 'admitted' or (
    ${FIRST_HAS_ROOM}
    and (t."lastKey" = t."firstKey" or
      (select count(*) from "paystateTasks" a where a."deadAt" is null and a."firstKey" = t."firstKey"
        and a.admission = 'admitted' and a."lastKey" = t."lastKey") < ${mostOf(`t."lastKey"`, `t."lastRoom"`)}))
$body$;`;

const firstRoom = `
create or replace function paystate_first_room_@(t "paystateTasks") returns bigint language sql as $body$
  select ${mostOf(`t."firstKey"`, `t."firstRoom"`)}
$body$;`;

const parkedBeside = (
  more: string,
): string => `(select 1 from "paystateTasks" p where p."deadAt" is null and p."firstKey" = t."firstKey"
      and p.admission = 'parked' and p."lastKey" = t."lastKey" and ${more} limit ${MAX_BEFORE})`;

/** The place that a parked effect or invocation waits for: `LimitWait` of the port. */
const placeFor = `
create or replace function paystate_place_@(t "paystateTasks") returns text language sql as $body$
  select jsonb_build_object(
    'key', case when ${FIRST_HAS_ROOM} then t."lastKey" else t."firstKey" end,
    'before', least(${MAX_BEFORE}, (select count(*) from (
      select * from ${parkedBeside("p.priority > t.priority")} higher union all
      select * from ${parkedBeside("p.priority = t.priority and p.seq < t.seq")} earlier) all_before)))::text
  where t."deadAt" is null and t.admission = 'parked' and t.kind <> 'message'
$body$;`;

/** Overrides a limit, and notes keys in which tasks may have room since. The caller holds the lock of all limits. */
const setLimit = `
create or replace function paystate_set_limit_@(given jsonb, inout changed jsonb) language plpgsql as $body$
#variable_conflict use_column
declare
  of_key text := given->>'key';
begin
  if given->>'atMost' is null then
    delete from "paystateLimits" where key = of_key;
  else
    insert into "paystateLimits" (key, "atMost") values (of_key, (given->>'atMost')::bigint)
      on conflict (key) do update set "atMost" = excluded."atMost";
  end if;
  update "paystateTasks" set ${dueOf("given")}, "rateKey" = null where "rateKey" is not null and "rateKey" = of_key;
  update "paystateTasks" set admission = 'parked' where ${UNHELD} and "firstKey" = of_key;
  update "paystateTasks" set admission = 'parked' where ${UNHELD} and "lastKey" <> "firstKey" and "lastKey" = of_key;
  changed := changed || jsonb_build_object(of_key, '') || (
    select coalesce(jsonb_object_agg("firstKey", ''), '{}') from "paystateTasks"
      where "deadAt" is null and "lastKey" <> "firstKey" and "lastKey" = of_key and admission = 'parked');
end $body$;`;

const headAfter = (key: string): string => `(select p.* from "paystateTasks" p
          where p."deadAt" is null and p."firstKey" = first_key and p.admission = 'parked' and p."lastKey" > ${key}
          order by p."lastKey", ${SOONEST_FIRST} limit 1)`;

/** Admits under these first keys, `{ first key: the last key that was left }`, which the caller has locked. True where it did. */
const admitParked = `
create or replace function paystate_admit_@(changed jsonb) returns boolean language plpgsql as $body$
declare
  admits boolean := false;
  first_key text;
  left_key text;
  head "paystateTasks";
  next "paystateTasks";
  behind text;
  looked int;
  under bigint;
  is_out boolean;
  has_wrapped boolean;
begin
  for first_key, left_key in select * from jsonb_each_text(changed) order by 1 loop
    select count(*) into under from "paystateTasks" a
      where a."deadAt" is null and a."firstKey" = first_key and a.admission = 'admitted';
    loop
      next := null;
      behind := left_key;
      looked := 0;
      has_wrapped := left_key = '';
      loop
        select * into head from ${headAfter("behind")} h;
        if head.id is null or (has_wrapped and left_key <> '' and head."lastKey" > left_key) then
          exit when has_wrapped;
          has_wrapped := true;
          behind := '';
          continue;
        end if;
        behind := head."lastKey";
        is_out := under >= case when head.kind = 'message' then head."firstRoom" else paystate_first_room_@(head) end;
        -- No more last keys are full than tasks are admitted. They are passed over, or a key with room could lie behind them.
        continue when not is_out and head."lastKey" <> first_key and not paystate_has_room_@(head);
        if not is_out and (next.id is null or (-head.priority, head.seq) < (-next.priority, next.seq)) then next := head; end if;
        looked := looked + 1;
        exit when looked = ${MAX_HEADS};
      end loop;
      exit when next.id is null;
      update "paystateTasks" set admission = 'admitted' where id = next.id;
      under := under + 1;
      admits := true;
    end loop;
  end loop;
  return admits;
end $body$;`;

/** Notes, for `paystate_admit_@`, that a task has left its keys, or asks for room in them. */
export const noted = (task: string): string =>
  `if ${task}."firstKey" is not null then
      changed := changed || jsonb_build_object(${task}."firstKey", ${task}."lastKey");
    end if;`;

export const roomFunctions = [lockAll, lockLimits, hasRoom, firstRoom, placeFor, setLimit, admitParked];
