/** The database function that commits a group, together or each commit on its own. */
import { MAX_FORGOTTEN } from "../../stored-instance.ts";
import { engineTables } from "../../engine-tables.ts";
import { columnsOf } from "../../row.ts";
import { listed, quoted } from "../../sql/statement.ts";
import { CLOCK } from "../database-clock.ts";
import { FENCED, KEPT_PLANS, sought } from "./kept-plans.ts";
import { dueOf, LOCK_ALL_LIMITS, noted } from "./rooms.ts";
import { GIVEN_UP, REFUSED } from "./states.ts";

/** Applies a write to a table of the caller; false refuses the write. */
const applyWrite = `
create or replace function paystate_write_@(write jsonb, statements jsonb) returns boolean language plpgsql as $body$
declare
  room jsonb := write->'room';
  given text[];
  counted bigint;
  size numeric;
begin
  if room is not null then
    given := array(select jsonb_array_elements_text(room->'values'));
    if room ? 'forget' then
      execute statements->>(room->>'forget')::int using array(select jsonb_array_elements_text(room->'forgotten'));
    end if;
    if room ? 'most' then
      execute statements->>(room->>'measure')::int into size using given;
      if size < 0 or size + (room->>'plus')::numeric > (room->>'most')::numeric then return false; end if;
    end if;
  end if;
  given := array(select jsonb_array_elements_text(write->'values'));
  if write ? 'mayBeTaken' then
    begin
      execute statements->>(write->>'statement')::int using given;
      get diagnostics counted = row_count;
    exception when unique_violation then
      return false;
    end;
  else
    execute statements->>(write->>'statement')::int using given;
    get diagnostics counted = row_count;
  end if;
  return not write ? 'rows' or counted = (write->>'rows')::bigint;
end $body$;`;

const refuse = (what: string): string => `raise exception using errcode = '${REFUSED}', message = ${what};`;

/** A change of tasks: counts them, and notes the keys that they leave or ask for room in. */
const notedAll = (change: string): string =>
  `with gone as (${change} returning "firstKey", "lastKey")
    select count(*), coalesce(jsonb_object_agg("firstKey", "lastKey") filter (where "firstKey" is not null), '{}')
      into counted, opened from gone;
    changed := changed || opened;`;

const eachOf = (part: string, fields: string): string =>
  `jsonb_to_recordset(parts->'${part}') as one(${fields})`;

const taskColumns = columnsOf(engineTables.paystateTasks);

/** Columns of a task that depend on where it is armed: a message belongs to the workflow of its target, where that is there. */
const ARMED: Readonly<Record<string, string>> = {
  workflow: `case when kind = 'message'
        then coalesce((select i.workflow from "paystateInstances" i where i.id = a.instance), a.workflow) else a.workflow end`,
  admission: `case when a.waits then 'parked' else a.admission end`,
  visibleAt: `case when a."visibleAt" is null then ${CLOCK} + case when a.waits then 0 else a."delayMs" end
        when a.waits then a."dueAt" else a."visibleAt" end`,
  delayMs: `case when a.waits then 0 else a."delayMs" end`,
  holder: "case when a.waits then null else a.holder end",
  token: "case when a.waits then 0 else a.token end",
};

/** Tasks with limits are parked until the end of the group, unless no other of their first key is unfinished. */
const arm = `with given as (
      select r.*, e.place, row_number() over (partition by r."firstKey" order by e.place) as turn
      from jsonb_array_elements(parts->'arms') with ordinality e(task, place) cross join lateral
        jsonb_populate_record(null::"paystateTasks", e.task) r
    ), placed as (
      select g.*, g.holder is not null and g."firstKey" is not null and (g.turn > 1 or exists (
        select 1 from "paystateTasks" t where t."deadAt" is null and t."firstKey" = g."firstKey" ${FENCED}) or g.kind <> 'message' and exists (
        select 1 from "paystateLimits" o where o.key = any(array[g."firstKey", g."lastKey"]) and o."atMost" = 0 ${FENCED})) as waits
      from given g
    ), added as (
      insert into "paystateTasks" (${listed(taskColumns)})
        select ${taskColumns.map((name) => ARMED[name] ?? quoted(name)).join(", ")} from placed a order by a.place
        returning "firstKey", "lastKey"
    )
    select coalesce(jsonb_object_agg("firstKey", "lastKey") filter (where "firstKey" is not null), '{}'),
        (select coalesce(jsonb_agg(p.id), '[]') from placed p where p.waits)
      into opened, waiting from added;
    changed := changed || opened;
    parked := parked || waiting;`;

/**
 * Applies one commit, or several apart, by one statement for each kind of change: a third of the cost. Tasks and instances come
 * sorted by id and are locked so. Adds the keys whose room was left or is asked for, and tasks armed without their lease.
 */
const applyParts = `
create or replace function paystate_apply_@(
  parts jsonb, statements jsonb, inout changed jsonb, inout parked jsonb
) language plpgsql as $body$
#variable_conflict use_column
declare
  each jsonb;
  counted bigint;
  at bigint;
  opened jsonb;
  waiting jsonb;
  found_task record;
begin
  -- The first keys are locked, and what is parked in one of them leaves no room.
  if parts ? 'behind' then
    delete from "paystateTasks" where id = any(array(
      select t.id from ${eachOf("behind", "task text, head text")}
        cross join lateral (select * from "paystateTasks" where id = one.task ${FENCED}) t
        cross join lateral (select "firstKey" from "paystateTasks" where id = one.head ${FENCED}) head
        where t."firstKey" = head."firstKey" and t.kind = 'message' and t.admission = 'parked' and t."deadAt" is null));
    get diagnostics counted = row_count;
    if counted < jsonb_array_length(parts->'behind') then ${refuse("'token'")} end if;
  end if;
  if parts ? 'consumes' then
    ${notedAll(`delete from "paystateTasks" using ${eachOf("consumes", "task text, token bigint")}
      where ${sought(`"paystateTasks".id`, "one.task")} and "paystateTasks".token = one.token and "paystateTasks".token > 0`)}
    if counted < jsonb_array_length(parts->'consumes') then ${refuse("'token'")} end if;
  end if;
  for each in select * from jsonb_array_elements(parts->'retries') loop
    update "paystateTasks" set ${dueOf("each")}, crashes = case when "deadAt" is null then crashes else 0 end,
        "crashedAt" = case when "deadAt" is null then "crashedAt" end,
        counted = case when "deadAt" is null then counted else 0 end,
        "aloneSince" = case when "deadAt" is null then "aloneSince" end,
        failures = case when "deadAt" is null then failures else 0 end,
        "failingSince" = case when "deadAt" is null then "failingSince" end, "deadAt" = null, "rateKey" = null,
        admission = case when "firstKey" is null or kind = 'message' and "deadAt" is null then admission
          when kind = 'message' then 'parked' else 'paused' end
      where id = each->>'task' and holder is null and ("deadAt" is not null or failures > 0)
      returning "firstKey", "lastKey" into found_task;
    if not found then ${refuse("'token'")} end if;
    ${noted("found_task")}
  end loop;
  if parts ? 'drops' then
    ${notedAll(`delete from "paystateTasks" where id = any(array(select jsonb_array_elements_text(parts->'drops')))
      and ("deadAt" is not null or holder is null and failures > 0 and (kind = 'message' or kind = 'effect'
        and not exists (select from "paystateInstances" where "paystateInstances".id = "paystateTasks".instance and status = 'active' ${FENCED})))`)}
    if counted < jsonb_array_length(parts->'drops') then ${refuse("'token'")} end if;
  end if;

  if parts ? 'steps' then
    update "paystateInstances" i set stamp = s.stamp, workflow = s.workflow, hash = s.hash, status = s.status, snapshot = s.snapshot,
        "updatedAt" = s.at, version = i.version + coalesce(s.steps, 1)
      from jsonb_to_recordset(parts->'steps') as s(id text, after text, stamp text, steps int, workflow text, hash text,
        status text, snapshot text, at bigint)
      where ${sought("i.id", "s.id")} and i.stamp = s.after;
    get diagnostics counted = row_count;
    if counted < jsonb_array_length(parts->'steps') then ${refuse("'step'")} end if;
  end if;
  if parts ? 'leaves' then
    with gone as (
      delete from "paystateInstances" using ${eachOf("leaves", "id text, after text")}
        where ${sought(`"paystateInstances".id`, "one.id")} and "paystateInstances".stamp = one.after returning "paystateInstances".id
    ), forgotten as (delete from "paystateHistory" using gone where ${sought(`"paystateHistory".instance`, "gone.id")})
    select count(*) into counted from gone;
    if counted < jsonb_array_length(parts->'leaves') then ${refuse("'step'")} end if;
  end if;
  if parts ? 'removes' then
    with gone as (
      delete from "paystateInstances" where id = any(array(
        select i.id from ${eachOf("removes", "id text, life text")}
          cross join lateral (select * from "paystateInstances" where id = one.id for update) i
          where i.life = one.life and i.status = 'done'
            and not exists (select 1 from "paystateInstances" child where child.parent = i.id and child.status = 'active' ${FENCED})
            and not exists (select 1 from "paystateTasks" where "paystateTasks".instance = i.id ${FENCED})))
        returning id
    ), forgotten as (delete from "paystateHistory" using gone where ${sought(`"paystateHistory".instance`, "gone.id")})
    select count(*) into counted from gone;
    if counted < jsonb_array_length(parts->'removes') then ${refuse("'step'")} end if;
  end if;

  if parts ? 'starts' then
    with given as (
      select start->>'id' as id, place, row_number() over (partition by start->>'id' order by place) as turn
        from jsonb_array_elements(parts->'starts') with ordinality as e(start, place)
    ), added as (
      insert into "paystateInstances" select * from jsonb_populate_recordset(null::"paystateInstances", parts->'starts')
        on conflict do nothing returning id
    )
    select min(place) - 1 into at from given where turn > 1 or given.id not in (select added.id from added);
    if at is not null then ${refuse("'exists/' || at")} end if;
  end if;

  for each, at in select * from jsonb_array_elements(parts->'writes') with ordinality loop
    if not paystate_write_@(each, statements) then ${refuse("'write/' || at - 1")} end if;
  end loop;

  if parts ? 'ends' then
    ${notedAll(`delete from "paystateTasks" where instance = any(array(select jsonb_array_elements_text(parts->'ends')))
      and kind in ('timer', 'invocation')`)}
  end if;
  if parts ? 'disarms' then
    ${notedAll(`delete from "paystateTasks" using ${eachOf("disarms", "instance text, timer text")}
      where ${sought(`"paystateTasks".instance`, "one.instance")} and "paystateTasks".name = one.timer and kind in ('timer', 'invocation')`)}
  end if;
  if parts ? 'adopts' then
    update "paystateTasks" t set workflow = one.workflow from ${eachOf("adopts", "instance text, workflow text")}
      where ${sought("t.instance", "one.instance")} and t.workflow <> one.workflow;
  end if;
  for each in select * from jsonb_array_elements(parts->'amends') loop
    ${notedAll(`update "paystateTasks" set name = each->>'name', payload = each->>'payload', holder = null,
        "rateKey" = null, token = token + 1, ${dueOf("each")}, admission = case when "firstKey" is null or kind = 'message' then admission else 'paused' end
      where id = each->>'task'`)}
  end loop;
  for each in select * from jsonb_array_elements(parts->'limits') loop
    changed := paystate_set_limit_@(each, changed);
  end loop;
  if parts ? 'arms' then
    ${arm}
  end if;
  if parts ? 'forgets' then
    delete from "paystateHistory" using ${eachOf("forgets", "instance text, before bigint")}
      where ${sought(`"paystateHistory".instance`, "one.instance")} and "paystateHistory".version < one.before and "paystateHistory".version < ${MAX_FORGOTTEN} + (
        select oldest.version from "paystateHistory" oldest where oldest.instance = one.instance order by oldest.version limit 1);
  end if;
  if parts ? 'history' then
    insert into "paystateHistory" select * from jsonb_populate_recordset(null::"paystateHistory", parts->'history');
  end if;
end $body$;`;

/** The names in the runs of a group, by a path into each run. */
const named = (path: string): string =>
  `jsonb_array_elements_text(jsonb_path_query_array(runs, '$[*].${path}'))`;

/**
 * A single run is all or nothing; of several, each has a subtransaction. Rows are locked in one order before the first run:
 * first keys (those of a task never change, so they are read before), names, rows of the caller, tasks, instances. The writer's row
 * tells afterwards whether the group was applied.
 */
const commitGroup = `
create or replace function paystate_commit_@(batch jsonb) returns jsonb language plpgsql
${KEPT_PLANS} as $body$
#variable_conflict use_column
declare
  statements jsonb := batch->'statements';
  runs jsonb := batch->'runs';
  answers jsonb := '[]';
  told jsonb;
  each jsonb;
  changed jsonb := '{}';
  parked jsonb := '[]';
begin
  if jsonb_path_exists(runs, '$[*].limits') then ${LOCK_ALL_LIMITS} end if;
  perform paystate_lock_limits_@(array(
    select ${named("arms[*].firstKey ? (@ != null)")}
    union
    select "firstKey" from "paystateTasks" where "firstKey" is not null and id = any(array(
      select ${named("consumes[*].task")} union all select ${named("retries[*].task")}
      union all select ${named("drops[*]")} union all select ${named("amends[*].task")}))
    union
    select "firstKey" from "paystateTasks" where "firstKey" is not null and kind = 'invocation' and instance = any(array(
      select ${named("ends[*]")} union all select ${named("disarms[*].instance")}))));
  if batch->'names' <> '[]' then perform paystate_lock_@(batch->'names'); end if;
  for each in select * from jsonb_array_elements(batch->'rows') loop
    execute statements->>(each->>'statement')::int using array(select jsonb_array_elements_text(each->'keys'));
  end loop;
  if jsonb_array_length(runs) = 1 then
    select a.changed, a.parked into changed, parked from paystate_apply_@(runs->0, statements, changed, parked) a;
  else
    perform 1 from "paystateTasks" where id = any(array(select ${named("consumes[*].task")})) order by id for update;
    perform 1 from "paystateInstances" where id = any(array(
      select ${named("steps[*].id")} union all select ${named("leaves[*].id")})) order by id for no key update;
    for each in select * from jsonb_array_elements(runs) loop
      begin
        select a.changed, a.parked into changed, parked from paystate_apply_@(each, statements, changed, parked) a;
        answers := answers || '"ok"';
      exception
        when sqlstate '${REFUSED}' then answers := answers || to_jsonb(sqlerrm);
        -- Another transaction was in the way, of the group and not of the item: all of it is tried again.
        when deadlock_detected or serialization_failure or lock_not_available then raise;
        -- What is gone may be made again.
        when undefined_table or undefined_function or invalid_schema_name then raise;
        when others then answers := answers || jsonb_build_array(jsonb_build_object('code', sqlstate, 'message', sqlerrm));
      end;
    end loop;
  end if;
  told := jsonb_build_object('answers', answers, 'parked', parked, 'admits', changed <> '{}' and paystate_admit_@(changed));
  update "paystateWriters" set number = (batch->>'number')::bigint, results = told::text,
      "usedAt" = ${CLOCK}
    where id = batch->>'writer' and number < (batch->>'number')::bigint;
  if not found then raise exception using errcode = '${GIVEN_UP}', message = 'this group was given up'; end if;
  return told;
end $body$;`;

export const commitFunctions = [applyWrite, applyParts, commitGroup];
