/** Database functions that claim tasks under leases, keep them, and give them back. */
import { MAX_UNSETTLED, UNCLAIMED_MS } from "../../unsettled.ts";
import { SUSPECT_MS } from "../../suspects.ts";
import { IN_QUEUE } from "../../sql/task-statements.ts";
import type { QueueName } from "../../storage.ts";
import { PAGE } from "../../task-queue.ts";
import { CLOCK } from "../database-clock.ts";
import { KEPT_PLANS, sought } from "./kept-plans.ts";
import { dueOf, noted, tryLimit } from "./rooms.ts";
import { UNADMITTED } from "./within.ts";

/** Due tasks of one queue, earliest first, locked. */
const dueIn = (queue: QueueName, more = ""): string => `array(
      select t.id from unnest(knows) w cross join lateral
        (select id, "visibleAt", seq from tasks
          where ${IN_QUEUE[queue]} and workflow = w${more} and "visibleAt" <= at
          order by "visibleAt", seq limit (request->>'${queue}')::int for update skip locked) t
      order by t."visibleAt", t.seq limit (request->>'${queue}')::int
    )`;

/** The workflows that have tasks of a queue: one seek from each to the next, however many tasks lie between. */
export const workflowsIn = (queue: QueueName): string => `${queue} (workflow) as (
      (select workflow from tasks where ${IN_QUEUE[queue]} order by workflow limit 1)
      union all
      select n.workflow from ${queue} cross join lateral (
        select t.workflow from tasks t where ${IN_QUEUE[queue]} and t.workflow > ${queue}.workflow
          order by t.workflow limit 1) n
    )`;

const leaseTasks = `
create or replace function paystate_lease_@(request jsonb, at bigint, given text[]) returns jsonb language plpgsql as $body$
#variable_conflict use_column
declare
  answer jsonb;
begin
  if cardinality(given) = 0 then return '[]'; end if;
  with leased as (
    update tasks set holder = request->>'holder', "visibleAt" = at + (request->>'leaseMs')::bigint,
        "delayMs" = (request->>'leaseMs')::bigint, "rateKey" = null, token = token + 1, admission = case when "firstKey" is not null then 'admitted' end
      where id = any(given) returning *
  )
  select jsonb_agg(to_jsonb(l) order by array_position(given, l.id)) into answer from leased l;
  return coalesce(answer, '[]');
end $body$;`;

export const IN_LINE = `"crashedAt" is not null and "deadAt" is null and holder is null
      and "visibleAt" = "crashedAt" + ${SUSPECT_MS}`;

export const QUEUE_OF_TASK = `case when kind in ('timer', 'message') then 'steps'
      when "firstKey" is not null then 'limited' else 'free' end`;

/** Makes suspects, or dead letters, of tasks whose holder vanished. Returns whether any task changed. */
const missHolders = `
create or replace function paystate_miss_@(given text[], request jsonb, at bigint) returns boolean language plpgsql as $body$
#variable_conflict use_column
declare
  most bigint := (request->>'maxCrashes')::bigint;
begin
  update tasks set holder = null, crashes = c.crashes, "crashedAt" = c.crashed,
      "deadAt" = case when tasks.holder is not null and c.crashes >= most then at end,
      "visibleAt" = case when c.crashed is null or tasks.holder is not null and c.crashes >= most
        then tasks."visibleAt" else c.crashed + ${SUSPECT_MS} end,
      "delayMs" = case when c.crashed is null or tasks.holder is not null and c.crashes >= most
        then tasks."delayMs" else ${SUSPECT_MS} end,
      admission = case when "firstKey" is null or kind = 'message' then admission else 'paused' end
    from (
      select id as changed_id,
        case when holder is null then crashes
          when "visibleAt" - (request->>'leaseMs')::bigint - "crashedAt" < ${SUSPECT_MS} then crashes + 1 else 1 end as crashes,
        case when holder is not null then at when "crashedAt" + ${SUSPECT_MS} > at then "crashedAt" when crashes > 1 then at end as crashed
      from tasks where id = any(given) and (holder is not null or "crashedAt" is not null)
    ) c
    where ${sought("id", "c.changed_id")};
  return found;
end $body$;`;

/** Parks what asks for room, takes the room of what nobody claims, and admits: under keys that nobody locks. */
const settleLimits = `
create or replace function paystate_settle_@(request jsonb, knows text[], at bigint) returns void language plpgsql as $body$
#variable_conflict use_column
declare
  found_key record;
  changed jsonb := '{}';
begin
  for found_key in
    with recursive ${workflowsIn("limited")}
    select l."firstKey", min(l."lastKey") as "lastKey", array_agg(l.id) as ids from limited w cross join lateral (
      (select t.* from tasks t where ${IN_QUEUE.limited} and t.workflow = w.workflow
        and t.admission = 'paused' and t."visibleAt" <= at order by t."visibleAt", t.seq limit ${MAX_UNSETTLED})
      union all
      (select t.* from tasks t where ${IN_QUEUE.limited} and t.workflow = w.workflow
        and t.admission = 'admitted' and t."visibleAt" <= at - ${UNCLAIMED_MS} and not (t.workflow = any(knows))
        order by t."visibleAt", t.seq limit ${MAX_UNSETTLED})
    ) l group by l."firstKey"
    union all
    select m."firstKey", min(m."lastKey"), array_agg(m.id) from
      (select * from tasks where ${UNADMITTED} order by seq limit ${MAX_UNSETTLED}) m group by m."firstKey"
    order by 1
  loop
    continue when not ${tryLimit('found_key."firstKey"')};
    perform paystate_miss_@(found_key.ids, request, at);
    -- Until it was locked another claim may have settled the same.
    update tasks set admission = 'paused', "rateKey" = null, "visibleAt" = at + least(greatest(at - "dueAt", ${UNCLAIMED_MS}), ${SUSPECT_MS}),
        "delayMs" = least(greatest(at - "dueAt", ${UNCLAIMED_MS}), ${SUSPECT_MS})
      where id = any(found_key.ids) and admission = 'admitted' and holder is null and "visibleAt" <= at - ${UNCLAIMED_MS}
        and kind <> 'message';
    update tasks set admission = 'parked', "rateKey" = null
      where id = any(found_key.ids) and admission = 'paused' and "deadAt" is null and (kind = 'message' or "visibleAt" <= at);
    ${noted("found_key")}
  end loop;
  perform paystate_admit_@(changed);
end $body$;`;

/** The suspect whose turn it is, with the rooms of its keys. No suspect while another suspect is held, or another claim looks for a suspect. */
const suspectInTurn = `
create or replace function paystate_suspect_@(request jsonb, at bigint) returns tasks language plpgsql as $body$
#variable_conflict use_column
declare
  chosen tasks;
begin
  perform 1 from tasks where "crashedAt" is not null and "deadAt" is null limit 1;
  if not found or not pg_try_advisory_xact_lock(hashtextextended(current_schema() || '/suspects', 0)) then
    return null;
  end if;
  perform 1 from tasks where "crashedAt" is not null and "deadAt" is null and holder is not null and "visibleAt" > at limit 1;
  if found then return null; end if;
  select * into chosen from tasks t
    where ${IN_LINE} and crashes < (request->>'maxCrashes')::bigint
      and workflow = any(array(select jsonb_array_elements_text(request->'workflows')))
      and (request->>(${QUEUE_OF_TASK}))::int > 0
      and ("firstKey" is null or paystate_has_room_@(t))
    order by crashes, kind in ('effect', 'invocation'), seq limit 1 for update of t skip locked;
  if chosen."firstKey" is not null then
    if not ${tryLimit('chosen."firstKey"')} then return null; end if;
    -- Until it was locked another claim may have taken the room.
    if not paystate_has_room_@(chosen) then return null; end if;
  end if;
  return chosen;
end $body$;`;

const claimTasks = `
create or replace function paystate_claim_@(request jsonb) returns jsonb language plpgsql
${KEPT_PLANS} as $body$
#variable_conflict use_column
declare
  at bigint := coalesce((request->>'now')::bigint, ${CLOCK});
  knows text[] := array(select distinct jsonb_array_elements_text(request->'workflows'));
  places text;
  missed record;
  changed jsonb;
  due text[];
  suspect tasks;
  has_looked boolean := false;
  tasks_claimed jsonb := '[]';
begin
  perform paystate_settle_@(request, knows, at);
  loop
    due := ${dueIn("steps")}
      || ${dueIn("free")}
      || ${dueIn("limited", " and admission = 'admitted'")};
    changed := '{}';
    for missed in
      select id, "firstKey", "lastKey" from tasks
        where id = any(due) and "firstKey" is not null and (holder is not null or "crashedAt" is not null)
        order by "firstKey"
    loop
      if ${tryLimit('missed."firstKey"')} then
        ${noted("missed")}
      else
        -- Its keys are in other hands: the next claim comes upon it.
        due := array_remove(due, missed.id);
      end if;
    end loop;
    -- Suspects go to their line, and the dead aside: they took places of others, so one looks again.
    if paystate_miss_@(due, request, at) then
      perform paystate_admit_@(changed);
      continue;
    end if;
    exit when has_looked;
    has_looked := true;
    select * into suspect from paystate_suspect_@(request, at);
    exit when suspect.id is null;
    tasks_claimed := paystate_lease_@(request, at, array[suspect.id]);
    select ${QUEUE_OF_TASK} into places from (select suspect.*) taken;
    request := request || jsonb_build_object(places, (request->>places)::int - 1);
  end loop;
  due := array(select id from tasks where id = any(due) order by "visibleAt", seq);
  tasks_claimed := tasks_claimed || paystate_lease_@(request, at, due);
  return jsonb_build_object('now', ${CLOCK},
    'tasks', tasks_claimed);
end $body$;`;

/** Extends what is still held, takes back suspects that were given to no other since; answers the ids of the rest. */
const extendLeases = `
create or replace function paystate_heartbeat_@(request jsonb) returns jsonb language plpgsql
${KEPT_PLANS} as $body$
#variable_conflict use_column
declare
  at bigint := coalesce((request->>'now')::bigint, ${CLOCK});
  held text[];
begin
  held := array(
    select t.id from (
      select b->>'id' as id, (b->>'token')::bigint as token from jsonb_array_elements(request->'tasks') b order by 1
    ) b cross join lateral
      (select id from tasks where id = b.id and token = b.token and (holder is not null or ${IN_LINE}) for update) t
  );
  update tasks set "visibleAt" = at + (request->>'leaseMs')::bigint, "delayMs" = (request->>'leaseMs')::bigint,
      holder = coalesce(holder, request->>'holder'),
      crashes = case when holder is null then crashes - 1 else crashes end,
      "crashedAt" = case when holder is not null or crashes > 1 then "crashedAt" end,
      admission = case when "firstKey" is not null then 'admitted' end
    where id = any(held) and (holder is not null or ${IN_LINE});
  return (select coalesce(jsonb_agg(b->>'id'), '[]') from jsonb_array_elements(request->'tasks') b
    where not (b->>'id' = any(held)));
end $body$;`;

const releaseTask = `
create or replace function paystate_release_@(request jsonb) returns boolean language plpgsql
${KEPT_PLANS} as $body$
#variable_conflict use_column
declare
  released record;
  changed jsonb := '{}';
  failed boolean := request ? 'error';
begin
  select "firstKey", "lastKey" into released from tasks where id = request->>'id';
  if released."firstKey" is not null then
    perform paystate_lock_limits_@(array[released."firstKey"]);
  end if;
  update tasks set ${dueOf("request")}, holder = null, "rateKey" = request->>'rateKey', failures = failures + (case when failed then 1 else 0 end),
      "lastError" = coalesce(request->>'error', "lastError"), "crashedAt" = case when failed then null else "crashedAt" end,
      "failingSince" = coalesce("failingSince", case when failed then "dueAt" end),
      admission = case when "firstKey" is null or kind = 'message' or request ? 'keepsRoom' and "crashedAt" is null
        then admission else 'paused' end
    where id = request->>'id' and token = (request->>'token')::bigint and token > 0 and "deadAt" is null;
  if not found then return false; end if;
  ${noted("released")}
  perform paystate_admit_@(changed);
  return true;
end $body$;`;

/** For `lease`; answers where the next page begins. A bitmap or a sort would be of all tasks behind the page. */
const moveDelayed = `
create or replace function paystate_move_@(request jsonb) returns jsonb language plpgsql
${KEPT_PLANS} set enable_bitmapscan = off set enable_sort = off as $body$
declare
  at bigint := coalesce((request->>'now')::bigint, ${CLOCK});
  page text[] := array(select id from tasks where id > request->>'after' order by id limit ${PAGE});
begin
  perform 1 from unnest(page) one(id) cross join lateral
    (select 1 from tasks where id = one.id and "visibleAt" - "delayMs" > at for update) t;
  update tasks set "visibleAt" = at + "delayMs",
      "crashedAt" = case when "crashedAt" > at then at else "crashedAt" end
    from unnest(page) one(id) where ${sought("tasks.id", "one.id")} and "visibleAt" - "delayMs" > at;
  return to_jsonb(page[${PAGE}]);
end $body$;`;

export const claimFunctions = [
  missHolders,
  settleLimits,
  leaseTasks,
  suspectInTurn,
  claimTasks,
  extendLeases,
  releaseTask,
  moveDelayed,
];
