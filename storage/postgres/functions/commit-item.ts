/** In the database: one commit, part by part. */
import { armAll, noted } from "./rooms.ts";
import { REFUSED } from "./states.ts";

/** One write to a table of the caller; false refuses it. */
export const applyWrite = `
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

/** One commit. Raises what refuses it; answers the keys that tasks have left or ask for room in, and what was armed without its lease. */
export const applyItem = `
create or replace function paystate_apply_@(
  item jsonb, statements jsonb, inout changed jsonb, inout parked jsonb
) language plpgsql as $body$
#variable_conflict use_column
declare
  place text := 'token';
  each jsonb;
  found_task record;
  opened jsonb;
  waiting jsonb;
  at int := 0;
begin
  if item ? 'consumes' then
    delete from tasks where id = item#>>'{consumes,task}' and token = (item#>>'{consumes,token}')::bigint and token > 0
      returning "firstKey", "lastKey" into found_task;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    ${noted("found_task")}
  end if;
  if item ? 'behind' then
    if not item ? 'consumes' then raise exception using errcode = '${REFUSED}', message = place; end if;
    delete from tasks where id = any(array(select jsonb_array_elements_text(item->'behind'))) and kind = 'message'
      and "firstKey" = found_task."firstKey" and admission = 'parked' and "deadAt" is null;
    get diagnostics at = row_count;
    if at <> jsonb_array_length(item->'behind') then
      raise exception using errcode = '${REFUSED}', message = place;
    end if;
    at := 0;
  end if;
  for each in select * from jsonb_array_elements(item->'retries') loop
    update tasks set "dueAt" = (each->>'dueAt')::bigint, "visibleAt" = (each->>'visibleAt')::bigint,
        crashes = case when "deadAt" is null then crashes else 0 end,
        "crashedAt" = case when "deadAt" is null then "crashedAt" end,
        failures = case when "deadAt" is null then failures else 0 end,
        "failingSince" = case when "deadAt" is null then "failingSince" end, "deadAt" = null,
        admission = case when "firstKey" is null or kind = 'message' and "deadAt" is null then admission
          when kind = 'message' then 'parked' else 'paused' end
      where id = each->>'task' and holder is null and ("deadAt" is not null or failures > 0)
      returning "firstKey", "lastKey" into found_task;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    ${noted("found_task")}
  end loop;
  for each in select * from jsonb_array_elements(item->'drops') loop
    delete from tasks where id = each#>>'{}' 
      and ("deadAt" is not null or kind = 'message' and holder is null and failures > 0)
      returning "firstKey", "lastKey" into found_task;
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    ${noted("found_task")}
  end loop;

  place := 'step';
  if item ? 'step' then
    each := item->'step';
    update instances set stamp = each->>'stamp', workflow = each->>'workflow', hash = each->>'hash', status = each->>'status',
        snapshot = each->>'snapshot', "updatedAt" = (each->>'at')::bigint, version = version + coalesce((each->>'steps')::int, 1)
      where id = each->>'id' and stamp = each->>'after';
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
  end if;
  for each in select * from jsonb_array_elements(item->'removes') loop
    delete from instances where id = each->>'id' and life = each->>'life' and status = 'done'
      and not exists (select 1 from instances child where child.parent = each->>'id' and child.status = 'active')
      and not exists (select 1 from tasks where instance = each->>'id')
      and not exists (select 1 from watches where instance = each->>'id');
    if not found then raise exception using errcode = '${REFUSED}', message = place; end if;
    delete from history where instance = each->>'id';
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
    for found_task in delete from tasks where instance = each#>>'{}' and kind in ('timer', 'invocation')
      returning "firstKey", "lastKey"
    loop
      ${noted("found_task")}
    end loop;
  end loop;
  for each in select * from jsonb_array_elements(item->'disarms') loop
    for found_task in delete from tasks where instance = each->>'instance' and name = each->>'timer'
      and kind in ('timer', 'invocation') returning "firstKey", "lastKey"
    loop
      ${noted("found_task")}
    end loop;
  end loop;
  for each in select * from jsonb_array_elements(item->'adopts') loop
    update tasks set workflow = each->>'workflow'
      where instance = each->>'instance' and workflow <> each->>'workflow';
  end loop;
  for each in select * from jsonb_array_elements(item->'amends') loop
    for found_task in update tasks set name = each->>'name', payload = each->>'payload', holder = null,
        token = token + 1, "dueAt" = (each->>'dueAt')::bigint, "visibleAt" = (each->>'visibleAt')::bigint,
        admission = case when "firstKey" is null or kind = 'message' then admission else 'paused' end
      where id = each->>'task' returning "firstKey", "lastKey"
    loop
      ${noted("found_task")}
    end loop;
  end loop;
  if item ? 'arms' then
    ${armAll("item->'arms'")}
  end if;
  for each in select * from jsonb_array_elements(item->'unwatches') loop
    delete from watches where kind = each->>'kind' and key = each->>'key' and instance = each->>'instance';
  end loop;
  for each in select * from jsonb_array_elements(item->'watches') loop
    insert into watches select * from jsonb_populate_record(null::watches, each)
      on conflict (kind, key, instance) do update set life = excluded.life, workflow = excluded.workflow, shard = excluded.shard;
  end loop;
  if item ? 'history' then
    insert into history select * from jsonb_populate_recordset(null::history, item->'history');
  end if;
end $body$;`;
