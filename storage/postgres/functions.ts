/**
 * The functions that PostgreSQL runs for this adapter: a group of commits, a claim, a heartbeat and a release are one round
 * trip each. They lie in the schema under names that end in a digest of their text, so two versions of the program can
 * work side by side.
 */
import { createHash } from "node:crypto";
import { engineTables } from "../engine-tables.ts";
import { columnsOf } from "../row.ts";
import { SUSPECT_MS } from "../suspects.ts";

/** Refusals of items travel as an error of this state, which takes back what the item did so far. */
const REFUSED = "PS001";

/** The state of the error that ends a group which its writer has given up meanwhile. */
const GIVEN_UP = "PS002";

/** PostgreSQL keeps 64 subtransactions of a session where others can look them up quickly. */
const SUBTRANSACTIONS = 48;

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

/** Brings the rows of lanes in line with their tasks. Only one transaction at a time does so for a lane. */
const settleLanes = `
create or replace function paystate_settle_@(armed jsonb, changed text[]) returns void language plpgsql as $body$
#variable_conflict use_column
declare
  each record;
  slot_at bigint;
  first_at bigint;
  lane_cap bigint;
begin
  if cardinality(changed) = 0 then return; end if;
  perform paystate_lock_@((select jsonb_agg('lane/' || l) from unnest(changed) l where l is not null));
  for each in select l->>'lane' as lane, l->>'workflow' as workflow, (l->>'cap')::bigint as cap,
      coalesce(l->>'laneGroup', '') as in_group
    from jsonb_array_elements(armed) l
  loop
    if each.cap is null then
      -- A task that moved to another workflow: its lane is open, and stays as it is.
      insert into lanes (lane, workflow, cap, "laneGroup", "nextAt")
        select lane, each.workflow, cap, "laneGroup", 0 from lanes where lane = each.lane limit 1
        on conflict (lane, workflow) do nothing;
    else
      insert into lanes (lane, workflow, cap, "laneGroup", "nextAt")
        values (each.lane, each.workflow, each.cap, each.in_group, 0) on conflict (lane, workflow) do nothing;
      update lanes set cap = each.cap where lane = each.lane and cap <> each.cap;
      -- Claims judge by the group of the task, and look for due lanes by that of the lane.
      update lanes set "laneGroup" = each.in_group where lane = each.lane and "laneGroup" <> each.in_group;
      if found then
        update tasks set "laneGroup" = nullif(each.in_group, '') where lane = each.lane and "deadAt" is null;
      end if;
    end if;
  end loop;
  for each in select l.lane, l.workflow, l."nextAt", least(l.cap, n.cap) as cap
    from lanes l left join "narrowedLanes" n on n.lane = l.lane where l.lane = any(changed)
  loop
    select t."visibleAt" into slot_at from tasks t
      where t."deadAt" is null and t.lane = each.lane and t.holder is not null
      order by t."visibleAt" desc offset each.cap - 1 limit 1;
    select t."visibleAt" into first_at from tasks t
      where t."deadAt" is null and t.lane = each.lane and t.workflow = each.workflow
      order by t."visibleAt" limit 1;
    if first_at is null then
      delete from lanes where lane = each.lane and workflow = each.workflow;
    elsif greatest(first_at, slot_at) <> each."nextAt" then
      update lanes set "nextAt" = greatest(first_at, slot_at)
        where lane = each.lane and workflow = each.workflow;
    end if;
  end loop;
end $body$;`;

/**
 * Arms these tasks. A lane is opened once for each cap and group that it is given, in the order of the last task with them:
 * adding up lanes task by task takes the square of the time.
 */
const armAll = (tasks: string): string => `with added as (
      insert into tasks (@taskColumns@)
        select @armedColumns@ from jsonb_populate_recordset(null::tasks, ${tasks}) a
        returning lane, workflow, cap, "laneGroup", seq
    ), latest as (
      select distinct on (lane, workflow, cap, "laneGroup") lane, workflow, cap, "laneGroup", seq from added
        where lane is not null order by lane, workflow, cap, "laneGroup", seq desc
    )
    select array_agg(distinct lane), jsonb_agg(to_jsonb(l) order by seq) into lanes, opened from latest l;
    changed := changed || coalesce(lanes, '{}');
    armed := armed || coalesce(opened, '[]');`;

/** One write to a table of the caller; false refuses it. */
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
    if room ? 'forget' then execute statements->>(room->>'forget')::int using given; end if;
    if room ? 'most' then
      execute statements->>(room->>'measure')::int into size using given;
      if size + (room->>'plus')::numeric > (room->>'most')::numeric then return false; end if;
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
  return counted = (write->>'rows')::bigint;
end $body$;`;

/** One commit. Raises what refuses it; answers the lanes whose tasks have changed, and adds those it has armed. */
const applyItem = `
create or replace function paystate_apply_@(
  item jsonb, statements jsonb, inout changed text[], inout armed jsonb
) language plpgsql as $body$
#variable_conflict use_column
declare
  place text := 'token';
  each jsonb;
  found_lane text;
  found_task record;
  lanes text[];
  opened jsonb;
  at int := 0;
begin
  if item ? 'consumes' then
    delete from tasks where id = item#>>'{consumes,task}' and token = (item#>>'{consumes,token}')::bigint and token > 0
      returning lane into found_lane;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    if found_lane is not null then changed := changed || found_lane; end if;
  end if;
  for each in select * from jsonb_array_elements(item->'retries') loop
    update tasks set "dueAt" = (each->>'dueAt')::bigint, "visibleAt" = (each->>'visibleAt')::bigint,
        crashes = case when "deadAt" is null then crashes else 0 end,
        "crashedAt" = case when "deadAt" is null then "crashedAt" end,
        failures = case when "deadAt" is null then failures else 0 end,
        "failingSince" = case when "deadAt" is null then "failingSince" end, "deadAt" = null
      where id = each->>'task' and holder is null and ("deadAt" is not null or failures > 0)
      returning lane, workflow, cap, "laneGroup" into found_task;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    if found_task.lane is not null then
      changed := changed || found_task.lane;
      armed := armed || jsonb_build_array(to_jsonb(found_task));
    end if;
  end loop;
  for each in select * from jsonb_array_elements(item->'drops') loop
    delete from tasks where id = each#>>'{}' and "deadAt" is not null;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
  end loop;

  place := 'version';
  if item ? 'step' then
    each := item->'step';
    update instances set workflow = each->>'workflow', hash = each->>'hash', status = each->>'status',
        snapshot = each->>'snapshot', "updatedAt" = (each->>'at')::bigint, version = version + 1
      where id = each->>'id' and version = (each->>'expectedVersion')::bigint;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
  end if;
  for each in select * from jsonb_array_elements(item->'removes') loop
    delete from instances where id = each#>>'{}' and status = 'done'
      and not exists (select 1 from tasks where instance = each#>>'{}')
      and not exists (select 1 from watches where instance = each#>>'{}');
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    delete from history where instance = each#>>'{}';
  end loop;

  for each in select * from jsonb_array_elements(item->'starts') loop
    place := 'exists/' || at;
    insert into instances select * from jsonb_populate_record(null::instances, each) on conflict do nothing;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    at := at + 1;
  end loop;

  at := 0;
  for each in select * from jsonb_array_elements(item->'writes') loop
    place := 'write/' || at;
    if not paystate_write_@(each, statements) then raise exception using errcode = '${REFUSED}', message = place; end if;
    at := at + 1;
  end loop;

  place := 'rest';
  for each in select * from jsonb_array_elements(item->'ends') loop
    for found_lane in delete from tasks where instance = each#>>'{}' and kind in ('timer', 'invocation') returning lane
    loop
      if found_lane is not null then changed := changed || found_lane; end if;
    end loop;
  end loop;
  for each in select * from jsonb_array_elements(item->'disarms') loop
    for found_lane in delete from tasks where instance = each->>'instance' and name = each->>'timer'
      and kind in ('timer', 'invocation') returning lane
    loop
      if found_lane is not null then changed := changed || found_lane; end if;
    end loop;
  end loop;
  for each in select * from jsonb_array_elements(item->'adopts') loop
    for found_task in update tasks set workflow = each->>'workflow'
      where instance = each->>'instance' and workflow <> each->>'workflow' returning lane, workflow
    loop
      if found_task.lane is not null then
        changed := changed || found_task.lane;
        armed := armed || jsonb_build_array(to_jsonb(found_task));
      end if;
    end loop;
  end loop;
  for each in select * from jsonb_array_elements(item->'amends') loop
    for found_lane in update tasks set name = each->>'name', payload = each->>'payload', holder = null,
        token = token + 1, "dueAt" = (each->>'dueAt')::bigint, "visibleAt" = (each->>'visibleAt')::bigint
      where id = each->>'task' returning lane
    loop
      if found_lane is not null then changed := changed || found_lane; end if;
    end loop;
  end loop;
  if item ? 'arms' then
    ${armAll("item->'arms'")}
  end if;
  for each in select * from jsonb_array_elements(item->'narrows') loop
    if each->>'cap' is null then
      delete from "narrowedLanes" where lane = each->>'lane';
    else
      insert into "narrowedLanes" (lane, cap) values (each->>'lane', (each->>'cap')::bigint)
        on conflict (lane) do update set cap = excluded.cap;
    end if;
    changed := changed || (each->>'lane');
  end loop;
  for each in select * from jsonb_array_elements(item->'unwatches') loop
    delete from watches where kind = each->>'kind' and key = each->>'key' and instance = each->>'instance';
  end loop;
  for each in select * from jsonb_array_elements(item->'watches') loop
    insert into watches select * from jsonb_populate_record(null::watches, each)
      on conflict (kind, key, instance) do update set workflow = excluded.workflow, shard = excluded.shard;
  end loop;
  if item ? 'history' then
    insert into history select * from jsonb_populate_recordset(null::history, item->'history');
  end if;
end $body$;`;

/** What a group begins with: whatever its items touch is locked in one order. */
const lockGroup = `
  perform paystate_lock_@(batch->'names');
  if batch ? 'instances' then
    perform 1 from instances where id = any(array(select jsonb_array_elements_text(batch->'instances')))
      order by id for no key update;
  end if;
  if batch ? 'tasks' then
    perform 1 from tasks where id = any(array(select jsonb_array_elements_text(batch->'tasks'))) order by id for update;
  end if;
  for each in select * from jsonb_array_elements(batch->'rows') loop
    execute statements->>(each->>'statement')::int using array(select jsonb_array_elements_text(each->'keys'));
  end loop;`;

/** What a group ends with. The row of the writer tells afterwards what became of the group, should its answer be lost. */
const endGroup = `
  perform paystate_settle_@(armed, changed);
  update "paystateWriters" set number = (batch->>'number')::bigint, results = answers::text,
      "usedAt" = floor(extract(epoch from clock_timestamp()) * 1000)::bigint
    where id = batch->>'writer' and number < (batch->>'number')::bigint;
  if not found then raise exception using errcode = '${GIVEN_UP}', message = 'this group was given up'; end if;
  return answers;`;

/**
 * A group of commits, in their order, each with a subtransaction of its own, and no more of them than PostgreSQL keeps at
 * hand for a session; the answer is shorter then than what was asked.
 */
const commitGroup = `
create or replace function paystate_commit_@(batch jsonb) returns jsonb language plpgsql as $body$
#variable_conflict use_column
declare
  statements jsonb := batch->'statements';
  answers jsonb := '[]';
  item jsonb;
  each jsonb;
  changed text[] := '{}';
  armed jsonb := '[]';
begin
  ${lockGroup}
  for item in select * from jsonb_array_elements(batch->'items') limit ${SUBTRANSACTIONS} loop
    begin
      select a.changed, a.armed into changed, armed from paystate_apply_@(item, statements, changed, armed) a;
      answers := answers || '"ok"';
    exception when sqlstate '${REFUSED}' then
      answers := answers || to_jsonb(sqlerrm);
    end;
  end loop;
  ${endGroup}
end $body$;`;

const refuseUnless = (isKept: string): string =>
  `if not (${isKept}) then raise exception using errcode = '${REFUSED}', message = 'together'; end if;`;

const eachOf = (part: string, fields: string): string =>
  `jsonb_to_recordset(batch->'${part}') as each_${part}(${fields})`;

/**
 * A group of commits whose parts are in nobody's way: each kind of change is one statement for all of them, which costs a
 * third of one for each. One refusal takes back all, and the group is sent item by item.
 *
 * Plans are kept for a session. One that was made while a table was small would scan it when it is large, so plans without
 * an index are given a price that is never paid; and without JIT, which compiles whatever has a high price, for 0.1 s each.
 */
const commitTogether = `
create or replace function paystate_commit_together_@(batch jsonb) returns jsonb language plpgsql
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $body$
#variable_conflict use_column
declare
  statements jsonb := batch->'statements';
  answers jsonb := batch->'answers';
  each jsonb;
  counted bigint;
  lanes text[];
  opened jsonb;
  changed text[] := '{}';
  armed jsonb := '[]';
begin
  ${lockGroup}
  if batch ? 'consumes' then
    with gone as (
      delete from tasks using ${eachOf("consumes", "task text, token bigint")}
        where tasks.id = each_consumes.task and tasks.token = each_consumes.token and tasks.token > 0 returning lane
    )
    select count(*), array_agg(distinct lane) filter (where lane is not null) into counted, lanes from gone;
    ${refuseUnless("counted = jsonb_array_length(batch->'consumes')")}
    changed := changed || coalesce(lanes, '{}');
  end if;
  if batch ? 'steps' then
    update instances i set workflow = s.workflow, hash = s.hash, status = s.status, snapshot = s.snapshot,
        "updatedAt" = s.at, version = i.version + 1
      from jsonb_to_recordset(batch->'steps') as s(id text, "expectedVersion" bigint, workflow text, hash text,
        status text, snapshot text, at bigint)
      where i.id = s.id and i.version = s."expectedVersion";
    get diagnostics counted = row_count;
    ${refuseUnless("counted = jsonb_array_length(batch->'steps')")}
  end if;
  if batch ? 'starts' then
    insert into instances select * from jsonb_populate_recordset(null::instances, batch->'starts') on conflict do nothing;
    get diagnostics counted = row_count;
    ${refuseUnless("counted = jsonb_array_length(batch->'starts')")}
  end if;
  for each in select * from jsonb_array_elements(batch->'writes') loop
    ${refuseUnless("paystate_write_@(each, statements)")}
  end loop;
  if batch ? 'ends' then
    with gone as (
      delete from tasks where instance = any(array(select jsonb_array_elements_text(batch->'ends')))
        and kind in ('timer', 'invocation') returning lane
    )
    select array_agg(distinct lane) filter (where lane is not null) into lanes from gone;
    changed := changed || coalesce(lanes, '{}');
  end if;
  if batch ? 'disarms' then
    with gone as (
      delete from tasks using ${eachOf("disarms", "instance text, timer text")}
        where tasks.instance = each_disarms.instance and tasks.name = each_disarms.timer
          and kind in ('timer', 'invocation') returning lane
    )
    select array_agg(distinct lane) filter (where lane is not null) into lanes from gone;
    changed := changed || coalesce(lanes, '{}');
  end if;
  if batch ? 'adopts' then
    with moved as (
      update tasks t set workflow = a.workflow
        from jsonb_to_recordset(batch->'adopts') as a(instance text, workflow text)
        where t.instance = a.instance and t.workflow <> a.workflow returning t.lane, t.workflow
    )
    select array_agg(distinct lane), jsonb_agg(distinct to_jsonb(m)) into lanes, opened from moved m where lane is not null;
    changed := changed || coalesce(lanes, '{}');
    armed := armed || coalesce(opened, '[]');
  end if;
  if batch ? 'arms' then
    ${armAll("batch->'arms'")}
  end if;
  if batch ? 'unwatches' then
    delete from watches using ${eachOf("unwatches", "kind text, key text, instance text")}
      where watches.kind = each_unwatches.kind and watches.key = each_unwatches.key
        and watches.instance = each_unwatches.instance;
  end if;
  if batch ? 'watches' then
    insert into watches select * from jsonb_populate_recordset(null::watches, batch->'watches')
      on conflict (kind, key, instance) do update set workflow = excluded.workflow, shard = excluded.shard;
  end if;
  if batch ? 'history' then
    insert into history select * from jsonb_populate_recordset(null::history, batch->'history');
  end if;
  ${endGroup}
end $body$;`;

/** Due tasks of one queue without lanes, earliest first, locked. */
const dueWithoutLane = (limit: string, kinds: string): string => `array(
      select t.id from unnest(knows) w cross join lateral
        (select id, "visibleAt", seq from tasks
          where "deadAt" is null and lane is null and kind in (${kinds}) and workflow = w and "visibleAt" <= at
          order by "visibleAt", seq limit ${limit} for update skip locked) t
      order by t."visibleAt", t.seq limit ${limit}
    )`;

/** So many lanes more than are needed are looked at before one looks from group to group. */
const LOOK_AHEAD = 128;

const heldBy = (group: string): string => `coalesce((held->>${group})::int, 0)`;

/** How many of the places a group would get if no other group took one, as in `FreePlaces`. */
const mostOf = (group: string): string => `greatest(0, ceil((laned - 2 * ${heldBy(group)}) / 3.0))`;

/** The lanes that may give a task now: those first whose group holds the fewest places, and of each group no more than it could get. */
const dueLanes = `
create or replace function paystate_lanes_@(knows text[], at bigint, laned int, held jsonb)
returns text[] language plpgsql as $body$
#variable_conflict use_variable
declare
  known text;
  seen bigint;
  rivals bigint;
  chosen text[] := '{}';
  in_sight text[];
begin
  foreach known in array knows loop
    select count(*), count(distinct case when l."laneGroup" = '' then 'lane ' || l.lane
        when ${heldBy('l."laneGroup"')} = 0 then 'group ' || l."laneGroup" end), array_agg(l.lane)
      into seen, rivals, in_sight
      from (select * from lanes n where n.workflow = known and n."nextAt" <= at
        order by n."nextAt" limit laned + ${LOOK_AHEAD}) l;
    if seen < laned + ${LOOK_AHEAD} or rivals >= laned then
      chosen := chosen || in_sight;
      continue;
    end if;
    chosen := chosen
      || array(select l.lane from lanes l where l.workflow = known and l."laneGroup" = '' and l."nextAt" <= at
        order by l."nextAt" limit laned)
      || array(
        with recursive groups(name) as (
          (select l."laneGroup" from lanes l where l.workflow = known and l."laneGroup" > ''
            order by l."laneGroup" limit 1)
          union all
          select n.name from groups g cross join lateral (
            select l."laneGroup" as name from lanes l where l.workflow = known and l."laneGroup" > g.name
              order by l."laneGroup" limit 1) n
        )
        select d.lane from groups g cross join lateral (
          select l.lane from lanes l where l.workflow = known and l."laneGroup" = g.name and l."nextAt" <= at
            order by l."nextAt" limit ${mostOf("g.name")}) d
      );
  end loop;
  if cardinality(chosen) = 0 then return '{}'; end if;
  return array(
    select r.lane from (
      select l.lane, l."laneGroup", l."nextAt",
          row_number() over (partition by l."laneGroup" order by l."nextAt", l.lane) as turn
        from lanes l where l.lane = any(chosen) and l.workflow = any(knows) and l."nextAt" <= at
    ) r
    where r."laneGroup" = '' or r.turn <= ${mostOf('r."laneGroup"')}
    order by case when r."laneGroup" = '' then 0 else ${heldBy('r."laneGroup"')} + r.turn - 1 end, r."nextAt" limit laned
  );
end $body$;`;

/** Leases tasks to a holder; answers them earliest first. */
const leaseTasks = `
create or replace function paystate_lease_@(request jsonb, at bigint, given text[]) returns jsonb language plpgsql as $body$
#variable_conflict use_column
declare
  answer jsonb;
begin
  if cardinality(given) = 0 then return '[]'; end if;
  with before as (select id, "visibleAt", seq from tasks where id = any(given)), leased as (
    update tasks set holder = request->>'holder', "visibleAt" = at + (request->>'leaseMs')::bigint, token = token + 1
      where id = any(given) returning *
  )
  select jsonb_agg(to_jsonb(l) order by b."visibleAt", b.seq) into answer from leased l join before b using (id);
  return coalesce(answer, '[]');
end $body$;`;

/** Suspects that wait for their turn. */
export const IN_LINE = `"crashedAt" is not null and "deadAt" is null and holder is null
      and "visibleAt" = "crashedAt" + ${SUSPECT_MS}`;

/** The queue of a task. */
export const QUEUE_OF_TASK =
  "case when lane is not null then 'laned' when kind in ('timer', 'message') then 'steps' else 'free' end";

/** Whether one more task of a lane may be leased. */
const hasSlot = (lane: string): string => `(
        select count(*) from tasks h where h."deadAt" is null and h.lane = ${lane} and h.holder is not null and h."visibleAt" > at
      ) < (
        select least(l.cap, n.cap) from lanes l left join "narrowedLanes" n on n.lane = l.lane where l.lane = ${lane} limit 1
      )`;

/**
 * The suspect whose turn it is, locked with its lane. None while another one is held, or while another claim looks for one
 * or has its lane: it waits for no lock, since its caller holds some of other lanes.
 */
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
  perform 1 from tasks where "crashedAt" is not null and "deadAt" is null and holder is not null
    and "visibleAt" > at and "visibleAt" <= at + ${SUSPECT_MS} limit 1;
  if found then return null; end if;
  select * into chosen from tasks t
    where ${IN_LINE} and crashes < (request->>'maxCrashes')::bigint
      and workflow = any(array(select jsonb_array_elements_text(request->'workflows')))
      and (request->>(${QUEUE_OF_TASK}))::int > 0
      and (lane is null or ${hasSlot("t.lane")})
    order by crashes, kind in ('effect', 'invocation'), seq limit 1 for update of t skip locked;
  if chosen.lane is not null then
    if not pg_try_advisory_xact_lock(hashtextextended(current_schema() || '/lane/' || chosen.lane, 0)) then return null; end if;
    -- Until it was locked another claim may have taken the slot.
    if not ${hasSlot("chosen.lane")} then return null; end if;
  end if;
  return chosen;
end $body$;`;

/** Due tasks, leased to one holder: those without a lane, and those with one as far as slots and shares allow. */
const claimTasks = `
create or replace function paystate_claim_@(request jsonb) returns jsonb language plpgsql as $body$
#variable_conflict use_column
declare
  at bigint := coalesce((request->>'now')::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
  knows text[] := array(select distinct jsonb_array_elements_text(request->'workflows'));
  steps int := (request->>'steps')::int;
  free int := (request->>'free')::int;
  laned int := (request->>'laned')::int;
  most bigint := (request->>'maxCrashes')::bigint;
  held jsonb := coalesce(request->'held', '{}');
  candidate record;
  has_now int;
  free_places int;
  in_lanes text[] := '{}';
  due text[];
  suspect record;
  has_looked boolean := false;
  tasks_claimed jsonb := '[]';
begin
  if laned > 0 then
    in_lanes := paystate_lanes_@(knows, at, laned, held);
    if cardinality(in_lanes) > 0 then
      perform paystate_lock_@((select jsonb_agg('lane/' || l) from unnest(in_lanes) l));
    end if;
  end if;
  loop
    due := ${dueWithoutLane("steps", "'timer', 'message'")}
      || ${dueWithoutLane("free", "'effect', 'invocation'")};
    if cardinality(in_lanes) > 0 then
      free_places := laned;
      held := coalesce(request->'held', '{}');
      for candidate in
        with open as (
          select l.lane, l.workflow, greatest(0, least(l.cap, n.cap) - (
            select count(*) from tasks t
            where t."deadAt" is null and t.lane = l.lane and t.holder is not null and t."visibleAt" > at
          )) as slots
          from lanes l left join "narrowedLanes" n on n.lane = l.lane
          where l.lane = any(in_lanes) and l.workflow = any(knows) and l."nextAt" <= at
        ), candidates as (
          select t.*, o.slots, row_number() over (partition by t.lane order by t."visibleAt", t.seq) as turn
          from open o cross join lateral
            (select id, lane, "laneGroup", "visibleAt", seq from tasks
              where "deadAt" is null and lane = o.lane and workflow = o.workflow and "visibleAt" <= at
              order by "visibleAt", seq limit least(laned, o.slots) for update skip locked) t
        ), placed as (
          select id, "laneGroup" as name, "visibleAt", seq,
              row_number() over (partition by "laneGroup" order by "visibleAt", seq) as place
            from candidates where turn <= slots
        )
        select id, name from placed
          order by case when name is null then 0 else ${heldBy("name")} + place - 1 end, "visibleAt", seq
      loop
        exit when free_places < 1;
        has_now := case when candidate.name is null then 0 else ${heldBy("candidate.name")} end;
        continue when 2 * has_now >= free_places;
        due := due || candidate.id;
        free_places := free_places - 1;
        if candidate.name is not null then held := held || jsonb_build_object(candidate.name, has_now + 1); end if;
      end loop;
    end if;
    -- Suspects go to their line, and the dead aside: they took places of others, so one looks again.
    update tasks set holder = null, crashes = c.crashes, "crashedAt" = c.crashed,
        "deadAt" = case when tasks.holder is not null and c.crashes >= most then at end,
        "visibleAt" = case when c.crashed is null or tasks.holder is not null and c.crashes >= most
          then tasks."visibleAt" else c.crashed + ${SUSPECT_MS} end
      from (
        select id as changed_id,
          case when holder is null then crashes
            when "visibleAt" - (request->>'leaseMs')::bigint - "crashedAt" < ${SUSPECT_MS} then crashes + 1 else 1 end as crashes,
          case when holder is not null then at when "crashedAt" + ${SUSPECT_MS} > at then "crashedAt" when crashes > 1 then at end as crashed
        from tasks where id = any(due) and (holder is not null or "crashedAt" is not null)
      ) c
      where id = c.changed_id;
    continue when found;
    exit when has_looked;
    has_looked := true;
    select * into suspect from paystate_suspect_@(request, at);
    exit when suspect.id is null;
    tasks_claimed := paystate_lease_@(request, at, array[suspect.id]);
    if suspect.lane is not null then
      laned := laned - 1;
      in_lanes := in_lanes || suspect.lane;
    elsif suspect.kind in ('timer', 'message') then
      steps := steps - 1;
    else
      free := free - 1;
    end if;
  end loop;
  tasks_claimed := tasks_claimed || paystate_lease_@(request, at, due);
  perform paystate_settle_@('[]', in_lanes);
  return jsonb_build_object('now', floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
    'tasks', tasks_claimed);
end $body$;`;

/** Extends what is still held, takes back suspects that were given to no other since; answers the ids of the rest. */
const extendLeases = `
create or replace function paystate_heartbeat_@(request jsonb) returns jsonb language plpgsql as $body$
#variable_conflict use_column
declare
  at bigint := coalesce((request->>'now')::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
  held text[];
  changed text[];
begin
  held := array(
    select t.id from tasks t join jsonb_array_elements(request->'tasks') b
      on t.id = b->>'id' and t.token = (b->>'token')::bigint
    where t.holder is not null or ${IN_LINE} order by t.id for update of t
  );
  with extended as (
    update tasks set "visibleAt" = at + (request->>'leaseMs')::bigint, holder = coalesce(holder, request->>'holder'),
        crashes = case when holder is null then crashes - 1 else crashes end,
        "crashedAt" = case when holder is not null or crashes > 1 then "crashedAt" end
      where id = any(held) and (holder is not null or ${IN_LINE}) returning lane
  )
  select array_agg(distinct lane) filter (where lane is not null) into changed from extended;
  perform paystate_settle_@('[]', coalesce(changed, '{}'));
  return (select coalesce(jsonb_agg(b->>'id'), '[]') from jsonb_array_elements(request->'tasks') b
    where not (b->>'id' = any(held)));
end $body$;`;

/** Gives one task back. */
const releaseTask = `
create or replace function paystate_release_@(request jsonb) returns boolean language plpgsql as $body$
#variable_conflict use_column
declare
  in_lane text;
  failed boolean := request ? 'error';
begin
  update tasks set "dueAt" = (request->>'dueAt')::bigint, "visibleAt" = (request->>'visibleAt')::bigint,
      holder = null, failures = failures + (case when failed then 1 else 0 end),
      "lastError" = coalesce(request->>'error', "lastError"), "crashedAt" = case when failed then null else "crashedAt" end,
      "failingSince" = coalesce("failingSince", case when failed then "dueAt" end)
    where id = request->>'id' and token = (request->>'token')::bigint and token > 0 and "deadAt" is null
    returning lane into in_lane;
  if not found then return false; end if;
  if in_lane is not null then perform paystate_settle_@('[]', array[in_lane]); end if;
  return true;
end $body$;`;

const taskColumns = columnsOf(engineTables.tasks)
  .map((name) => `"${name}"`)
  .join(", ");

/** A message belongs to the workflow of its target, where that is there. */
const armedColumns = taskColumns.replace(
  '"workflow"',
  `case when kind = 'message'
        then coalesce((select i.workflow from instances i where i.id = a.instance), a.workflow) else a.workflow end`,
);

const source = [
  ...[
    lockAll,
    settleLanes,
    applyWrite,
    applyItem,
    commitGroup,
    commitTogether,
    dueLanes,
    leaseTasks,
    suspectInTurn,
    claimTasks,
  ],
  ...[extendLeases, releaseTask],
]
  .join("\n")
  .replaceAll("@taskColumns@", taskColumns)
  .replaceAll("@armedColumns@", armedColumns);

const digest = createHash("sha256").update(source).digest("hex").slice(0, 10);

/** What creates the functions; where they are there it changes nothing. */
export const FUNCTIONS = source.replaceAll("_@", `_${digest}`);

/** Their names. */
export const functionNames = {
  commit: `paystate_commit_${digest}`,
  together: `paystate_commit_together_${digest}`,
  claim: `paystate_claim_${digest}`,
  heartbeat: `paystate_heartbeat_${digest}`,
  release: `paystate_release_${digest}`,
};
