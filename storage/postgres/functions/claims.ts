/** In the database: tasks are claimed under leases, kept, and given back. */
import { SUSPECT_MS } from "../../suspects.ts";

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
export const dueLanes = `
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
    -- A lane with tasks of several workflows has a row for each, and is one lane.
    select r.lane from (
      select l.lane, l."laneGroup", min(l."nextAt") as "nextAt",
          row_number() over (partition by l."laneGroup" order by min(l."nextAt"), l.lane) as turn
        from lanes l where l.lane = any(chosen) and l.workflow = any(knows) and l."nextAt" <= at
        group by l.lane, l."laneGroup"
    ) r
    where r."laneGroup" = '' or r.turn <= ${mostOf('r."laneGroup"')}
    order by case when r."laneGroup" = '' then 0 else ${heldBy('r."laneGroup"')} + r.turn - 1 end, r."nextAt" limit laned
  );
end $body$;`;

/** Leases tasks to a holder; answers them earliest first. */
export const leaseTasks = `
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
export const suspectInTurn = `
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
export const claimTasks = `
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
export const extendLeases = `
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
export const releaseTask = `
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
