/** In the database: locks in one order, and lanes that are kept in line with their tasks. */

/** Runs in the transaction of its caller: locks taken here are held until that ends, in one order everywhere. */
export const lockAll = `
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
export const settleLanes = `
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
export const armAll = (tasks: string): string => `with added as (
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
