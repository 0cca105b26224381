/** Database functions for limits: locks in one order, and the rooms of keys. */
import { MAX_HEADS } from "../../limits.ts";

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

/**
 * A commit with at most this many first keys locks them one by one. The server has room for some thousand locks; a
 * commit with more keys locks the whole of all keys.
 */
const MAX_KEYS = 1_000;

const hashOf = (name: string): string => `hashtextextended(current_schema() || ${name}, 0)`;
const ALL_LIMITS = hashOf("'/limits'");

/**
 * Locks the rooms under these first keys, before anything else is locked. A commit with few keys shares the lock of all
 * limits; a commit with many has that lock alone.
 */
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

/** Whether the keys of a task have room for it. Its first key is locked, so nobody else takes the room. */
const hasRoom = `
create or replace function paystate_has_room_@(t tasks) returns boolean language sql as $body$
  select t."firstKey" is null or t.admission = 'admitted' or (
    (select count(*) from tasks a
      where a."deadAt" is null and a."firstKey" = t."firstKey" and a.admission = 'admitted') < t."firstRoom"
    and (t."lastKey" = t."firstKey" or
      (select count(*) from tasks a where a."deadAt" is null and a."firstKey" = t."firstKey"
        and a.admission = 'admitted' and a."lastKey" = t."lastKey") < t."lastRoom"))
$body$;`;

const headAfter = (key: string): string => `(select p.* from tasks p
          where p."deadAt" is null and p."firstKey" = first_key and p.admission = 'parked' and p."lastKey" > ${key}
          order by p."lastKey", p.seq limit 1)`;

/**
 * Admits what is parked and has room, under the first keys of these tasks: `{ first key: the last key that one has left }`.
 * True where it has admitted a task. The caller holds their locks.
 */
const admitParked = `
create or replace function paystate_admit_@(changed jsonb) returns boolean language plpgsql as $body$
declare
  admits boolean := false;
  first_key text;
  left_key text;
  head tasks;
  next tasks;
  behind text;
  looked int;
  under bigint;
  is_out boolean;
  has_wrapped boolean;
begin
  for first_key, left_key in select * from jsonb_each_text(changed) order by 1 loop
    loop
      next := null;
      select count(*) into under from tasks a
        where a."deadAt" is null and a."firstKey" = first_key and a.admission = 'admitted';
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
        is_out := under >= head."firstRoom";
        -- No more last keys are full than tasks are admitted. They are passed over, or a key with room could lie behind them.
        continue when not is_out and not paystate_has_room_@(head);
        if not is_out and (next.id is null or head.seq < next.seq) then next := head; end if;
        looked := looked + 1;
        exit when looked = ${MAX_HEADS};
      end loop;
      exit when next.id is null;
      update tasks set admission = 'admitted' where id = next.id;
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

export const roomFunctions = [lockAll, lockLimits, hasRoom, admitParked];
