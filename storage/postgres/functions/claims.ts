/** Database functions that claim tasks under leases, keep them, and give them back. */
import { MAX_UNSETTLED, UNCLAIMED_MS } from "../../unsettled.ts";
import { SUSPECT_MS } from "../../suspects.ts";
import { IN_QUEUE, QUEUE_OF_TASK } from "../../sql/task-statements.ts";
import type { QueueName } from "../../storage.ts";
import { PAGE } from "../../stored-task.ts";
import { CLOCK } from "../database-clock.ts";
import { FENCED, KEPT_PLANS, sought } from "./kept-plans.ts";
import { dueOf, noted, tryLimit } from "./rooms.ts";
import { UNADMITTED } from "./within.ts";

/** Due tasks of one queue, earliest first, locked. */
const dueIn = (queue: QueueName, more = ""): string => `array(
      select t.id from unnest(knows) w cross join lateral
        (select id, "visibleAt", seq from "paystateTasks"
          where ${IN_QUEUE[queue]} and workflow = w${more} and "visibleAt" <= at
          order by "visibleAt", seq limit (request->>'${queue}')::int for update skip locked) t
      order by t."visibleAt", t.seq limit (request->>'${queue}')::int
    )`;

/** The workflows that have tasks of a queue: one seek from each to the next, however many tasks lie between. */
export const workflowsIn = (queue: QueueName): string => `${queue} (workflow) as (
      (select workflow from "paystateTasks" where ${IN_QUEUE[queue]} order by workflow limit 1)
      union all
      select n.workflow from ${queue} cross join lateral (
        select t.workflow from "paystateTasks" t where ${IN_QUEUE[queue]} and t.workflow > ${queue}.workflow
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
    update "paystateTasks" set holder = request->>'holder', "visibleAt" = at + (request->>'leaseMs')::bigint,
        "delayMs" = (request->>'leaseMs')::bigint, "rateKey" = null, token = token + 1, missed = null,
        -- However long a suspect has waited for its turn, its next death is one within an hour.
        "crashedAt" = case when crashes > 1 and "crashedAt" is not null then at else "crashedAt" end,
        admission = case when "firstKey" is not null then 'admitted' end
      where id = any(given) returning *
  )
  select jsonb_agg(to_jsonb(l) order by array_position(given, l.id)) into answer from leased l;
  return coalesce(answer, '[]');
end $body$;`;

const CRASHED = `"crashedAt" is not null and "deadAt" is null`;

export const HELD_SUSPECT = `${CRASHED} and holder is not null and crashes > 1`;

/** After an hour of life it is no suspect to others any more: its next death is a first one. */
export const heldAsSuspectUntil = (task: string): string =>
  `least(${task}."visibleAt", ${task}."crashedAt" + ${SUSPECT_MS})`;

export const IN_LINE = `${CRASHED} and holder is null and crashes > 1
      and "visibleAt" = "crashedAt" + ${SUSPECT_MS}`;

/** In hand at a second death within an hour, or a later one, and not judged for it yet. */
const UNJUDGED = `${CRASHED} and holder is not null and missed is null
      and "visibleAt" - coalesce("delayMs", 0) - "crashedAt" < ${SUSPECT_MS}`;

/**
 * Judges the tasks of vanished holders, each holder's together, one claim after the other. Somebody else may have a row of
 * it: then the next claim judges. False where no task has crashed, and where another claim judges.
 */
const judgeHolders = `
create or replace function paystate_judge_@(at bigint) returns boolean language plpgsql as $body$
#variable_conflict use_column
declare
  vanished text;
  suspects text[];
  hand text[];
begin
  perform 1 from "paystateTasks" where ${CRASHED} limit 1;
  if not found or not pg_try_advisory_xact_lock(hashtextextended(current_schema() || '/suspects', 0)) then
    return false;
  end if;
  for vanished in select distinct holder from "paystateTasks" where ${UNJUDGED} and "visibleAt" <= at loop
    suspects := array(select id from "paystateTasks" where ${UNJUDGED} and holder = vanished);
    hand := array(select id from "paystateTasks" where id = any(suspects) and ${UNJUDGED} and holder = vanished
      order by id for update skip locked);
    continue when cardinality(hand) < cardinality(suspects);
    -- Until they were locked its leases may have been extended.
    continue when not exists (select from "paystateTasks" where id = any(hand) and "visibleAt" <= at);
    update "paystateTasks" set crashes = crashes + 1, "crashedAt" = at,
        counted = case when cardinality(hand) = 1 then counted + 1 else counted end,
        "aloneSince" = case when cardinality(hand) = 1 then "aloneSince" else coalesce("aloneSince", at) end,
        missed = case when cardinality(hand) = 1 then 1 else 0 end
      where id = any(hand);
  end loop;
  return true;
end $body$;`;

const WAITED = `"crashedAt" + ${SUSPECT_MS} <= at`;

/**
 * Takes tasks from vanished holders: they are due again, go to the line of suspects, or aside. Until one was locked somebody may have
 * begun it, or extended its lease. Returns whether any task changed.
 */
const missHolders = `
create or replace function paystate_miss_@(given text[], request jsonb, at bigint) returns boolean language plpgsql as $body$
#variable_conflict use_column
declare
  changes boolean := false;
begin
  update "paystateTasks" set holder = null, crashes = 1, "crashedAt" = at, counted = 0, "aloneSince" = null, missed = 0,
      admission = case when "firstKey" is null or kind = 'message' then admission else 'parked' end
    where id = any(given) and "visibleAt" <= at and holder is not null and missed is null and not (${UNJUDGED});
  changes := changes or found;
  update "paystateTasks" set holder = null, missed = null, "deadAt" = at,
      admission = case when "firstKey" is null or kind = 'message' then admission else 'paused' end
    where id = any(given) and "visibleAt" <= at and holder is not null and missed is not null
      and counted >= greatest(1, (request->>'maxCrashes')::bigint);
  changes := changes or found;
  update "paystateTasks" set holder = null, crashes = 0, "crashedAt" = null, "aloneSince" = null, missed = null
    where id = any(given) and "visibleAt" <= at and ${CRASHED}
      and (holder is null and crashes > 1 or missed is not null and holder is not null) and counted = 0 and ${WAITED};
  changes := changes or found;
  update "paystateTasks" set holder = null, "crashedAt" = case when ${WAITED} then at else "crashedAt" end,
      "visibleAt" = case when ${WAITED} then at else "crashedAt" end + ${SUSPECT_MS}, "delayMs" = ${SUSPECT_MS},
      admission = case when "firstKey" is null or kind = 'message' then admission else 'paused' end
    where id = any(given) and "visibleAt" <= at and ${CRASHED} and crashes > 1 and (holder is null or missed is not null);
  return changes or found;
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
      (select t.* from "paystateTasks" t where ${IN_QUEUE.limited} and t.workflow = w.workflow
        and t.admission = 'paused' and t."visibleAt" <= at order by t."visibleAt", t.seq limit ${MAX_UNSETTLED})
      union all
      (select t.* from "paystateTasks" t where ${IN_QUEUE.limited} and t.workflow = w.workflow
        and t.admission = 'admitted' and t."visibleAt" <= at - ${UNCLAIMED_MS} and not (t.workflow = any(knows))
        order by t."visibleAt", t.seq limit ${MAX_UNSETTLED})
    ) l group by l."firstKey"
    union all
    select m."firstKey", min(m."lastKey"), array_agg(m.id) from
      (select * from "paystateTasks" where ${UNADMITTED} order by seq limit ${MAX_UNSETTLED}) m group by m."firstKey"
    order by 1
  loop
    continue when not ${tryLimit('found_key."firstKey"')};
    -- Until it was locked another claim may have settled the same.
    update "paystateTasks" set admission = 'paused', "rateKey" = null, "visibleAt" = at + least(greatest(at - "dueAt", ${UNCLAIMED_MS}), ${SUSPECT_MS}),
        "delayMs" = least(greatest(at - "dueAt", ${UNCLAIMED_MS}), ${SUSPECT_MS})
      where id = any(found_key.ids) and admission = 'admitted' and holder is null and "visibleAt" <= at - ${UNCLAIMED_MS}
        and kind <> 'message';
    perform paystate_miss_@(found_key.ids, request, at);
    update "paystateTasks" set admission = 'parked', "rateKey" = null
      where id = any(found_key.ids) and admission = 'paused' and "deadAt" is null and (kind = 'message' or "visibleAt" <= at);
    ${noted("found_key")}
  end loop;
  perform paystate_admit_@(changed);
end $body$;`;

/** The suspect whose turn it is, with the rooms of its keys. The caller judges, so that no other claim takes a suspect meanwhile. */
const suspectInTurn = `
create or replace function paystate_suspect_@(request jsonb, at bigint) returns "paystateTasks" language plpgsql as $body$
#variable_conflict use_column
declare
  chosen "paystateTasks";
  is_any_held boolean;
  is_alone_held boolean;
begin
  select count(*) > 0, count("aloneSince") > 0 into is_any_held, is_alone_held
    from "paystateTasks" held where ${HELD_SUSPECT} and ${heldAsSuspectUntil("held")} > at;
  if is_alone_held then return null; end if;
  select * into chosen from "paystateTasks" t
    where ${IN_LINE} and ("aloneSince" is null or not is_any_held)
      and workflow = any(array(select jsonb_array_elements_text(request->'workflows')))
      and (request->>(${QUEUE_OF_TASK}))::int > 0
      and ("firstKey" is null or paystate_has_room_@(t))
    order by "aloneSince" is not null, crashes, kind in ('effect', 'invocation'), seq limit 1 for update of t skip locked;
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
  suspect "paystateTasks";
  judges boolean := paystate_judge_@(at);
  tasks_claimed jsonb := '[]';
begin
  perform paystate_settle_@(request, knows, at);
  loop
    due := ${dueIn("steps")}
      || ${dueIn("free")}
      || ${dueIn("limited", " and admission = 'admitted'")};
    changed := '{}';
    for missed in
      select id, "firstKey", "lastKey" from "paystateTasks"
        where id = any(due) and "firstKey" is not null and (holder is not null or crashes > 1 and "crashedAt" is not null)
        order by "firstKey"
    loop
      if ${tryLimit('missed."firstKey"')} then
        ${noted("missed")}
      else
        -- Its keys are in other hands: the next claim comes upon it.
        due := array_remove(due, missed.id);
      end if;
    end loop;
    -- Suspects go to their line, the dead aside, others ask for room: they took places, so one looks again.
    if paystate_miss_@(due, request, at) then
      perform paystate_admit_@(changed);
      continue;
    end if;
    exit when not judges;
    judges := false;
    loop
      select * into suspect from paystate_suspect_@(request, at);
      exit when suspect.id is null;
      tasks_claimed := tasks_claimed || paystate_lease_@(request, at, array[suspect.id]);
      select ${QUEUE_OF_TASK} into places from (select suspect.*) taken;
      request := request || jsonb_build_object(places, (request->>places)::int - 1);
    end loop;
    exit when tasks_claimed = '[]';
  end loop;
  -- What another claim judges has its holder still.
  due := array(select id from "paystateTasks" where id = any(due) and holder is null order by "visibleAt", seq);
  tasks_claimed := tasks_claimed || paystate_lease_@(request, at, due);
  return jsonb_build_object('now', ${CLOCK},
    'tasks', tasks_claimed);
end $body$;`;

/**
 * Extends what is still held, gives back what was judged and given to no other since; answers the ids of the rest. A row
 * that somebody has locked is passed over: a commit of a host may keep it for seconds, and all other leases would end
 * meanwhile. It is unseen, and a heartbeat soon afterwards meets it again.
 */
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
      (select id from "paystateTasks" where id = b.id and token = b.token and (holder is not null or missed is not null)
        for update skip locked) t
  );
  update "paystateTasks" set "visibleAt" = at + (request->>'leaseMs')::bigint, "delayMs" = (request->>'leaseMs')::bigint,
      holder = coalesce(holder, request->>'holder'),
      crashes = case when missed is null then crashes else crashes - 1 end,
      "crashedAt" = case when missed is null or crashes > 1 then "crashedAt" end,
      counted = counted - coalesce(missed, 0),
      "aloneSince" = case when missed is null or crashes > 2 then "aloneSince" end,
      missed = null,
      admission = case when "firstKey" is not null then 'admitted' end
    where id = any(held) and (holder is not null or missed is not null);
  return (select jsonb_build_object('lost', coalesce(jsonb_agg(id) filter (where not "isThere"), '[]'),
      'unseen', coalesce(jsonb_agg(id) filter (where "isThere"), '[]'))
    from (select b->>'id' as id, exists (select from "paystateTasks" where id = b->>'id' and token = (b->>'token')::bigint
        and (holder is not null or missed is not null) ${FENCED}) as "isThere"
      from jsonb_array_elements(request->'tasks') b where not (b->>'id' = any(held))) left_out);
end $body$;`;

const releaseTask = `
create or replace function paystate_release_@(request jsonb) returns boolean language plpgsql
${KEPT_PLANS} as $body$
#variable_conflict use_column
declare
  released record;
  changed jsonb := '{}';
  failed boolean := request ? 'error';
  is_final boolean := request ?& array['error', 'isFinal'];
begin
  select "firstKey", "lastKey" into released from "paystateTasks" where id = request->>'id';
  if released."firstKey" is not null then
    perform paystate_lock_limits_@(array[released."firstKey"]);
  end if;
  update "paystateTasks" set ${dueOf("request")}, holder = null, "rateKey" = request->>'rateKey', failures = failures + (case when failed then 1 else 0 end),
      "lastError" = coalesce(request->>'error', "lastError"), "crashedAt" = case when failed then null else "crashedAt" end,
      counted = case when failed then 0 else counted end, "aloneSince" = case when failed then null else "aloneSince" end,
      missed = null,
      "failingSince" = coalesce("failingSince", case when failed then "dueAt" end),
      crashes = case when is_final then 0 else crashes end,
      "deadAt" = case when is_final then coalesce((request->>'visibleAt')::bigint, ${CLOCK}) end,
      admission = case when "firstKey" is null or kind = 'message' or request ? 'keepsRoom' and (crashes < 2 or "crashedAt" is null)
        then admission else 'paused' end
    where id = request->>'id' and token = (request->>'token')::bigint and token > 0 and "deadAt" is null;
  if not found then return false; end if;
  ${noted("released")}
  perform paystate_admit_@(changed);
  return true;
end $body$;`;

/** Read behind each row, which may be waited for: a later time in the row proves that the clock was set back. */
const movedNow = `coalesce((request->>'now')::bigint, ${CLOCK})`;

/** For `lease`; answers where the next page begins. A bitmap or a sort would be of all tasks behind the page. */
const moveDelayed = `
create or replace function paystate_move_@(request jsonb) returns jsonb language plpgsql
${KEPT_PLANS} set enable_bitmapscan = off set enable_sort = off as $body$
declare
  page text[] := array(select id from "paystateTasks" where id > request->>'after' order by id limit ${PAGE});
begin
  perform 1 from unnest(page) one(id) cross join lateral
    (select 1 from "paystateTasks" where id = one.id and "visibleAt" - "delayMs" > ${movedNow} for update) t;
  update "paystateTasks" set "visibleAt" = ${movedNow} + "delayMs",
      "crashedAt" = case when "crashedAt" > ${movedNow} then ${movedNow} else "crashedAt" end
    from unnest(page) one(id)
    where ${sought(`"paystateTasks".id`, "one.id")} and "visibleAt" - "delayMs" > ${movedNow};
  return to_jsonb(page[${PAGE}]);
end $body$;`;

export const claimFunctions = [
  judgeHolders,
  missHolders,
  settleLimits,
  leaseTasks,
  suspectInTurn,
  claimTasks,
  extendLeases,
  releaseTask,
  moveDelayed,
];
