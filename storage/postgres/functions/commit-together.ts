/** In the database: a group of commits, kind by kind. */
import { endGroup, lockGroup } from "./commit-group.ts";
import { armAll } from "./rooms.ts";
import { REFUSED } from "./states.ts";

const refuseUnless = (isKept: string): string =>
  `if not (${isKept}) then raise exception using errcode = '${REFUSED}', message = 'together'; end if;`;

/** The keys that the tasks of this list have left. */
const notedAll = (gone: string): string =>
  `select coalesce(jsonb_object_agg("firstKey", "lastKey") filter (where "firstKey" is not null), '{}')
      into opened from ${gone};
    changed := changed || opened;`;

const eachOf = (part: string, fields: string): string =>
  `jsonb_to_recordset(batch->'${part}') as each_${part}(${fields})`;

/**
 * A group of commits whose parts are in nobody's way: each kind of change is one statement for all of them, which costs a
 * third of one for each. One refusal takes back all, and the group is sent item by item. Tasks and instances come in the
 * order of their ids, and are taken in it, so groups that meet wait for each other: to lock them first costs each row twice.
 *
 * Plans are kept for a session. One that was made while a table was small would scan it when it is large, so plans without
 * an index are given a price that is never paid; and without JIT, which compiles whatever has a high price, for 0.1 s each.
 */
export const commitTogether = `
create or replace function paystate_commit_together_@(batch jsonb) returns jsonb language plpgsql
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $body$
#variable_conflict use_column
declare
  statements jsonb := batch->'statements';
  answers jsonb := batch->'answers';
  each jsonb;
  counted bigint;
  opened jsonb;
  waiting jsonb;
  parked jsonb := '[]';
  changed jsonb := '{}';
begin
  ${lockGroup}
  if batch ? 'consumes' then
    with gone as (
      delete from tasks using ${eachOf("consumes", "task text, token bigint")}
        where tasks.id = each_consumes.task and tasks.token = each_consumes.token and tasks.token > 0
          returning "firstKey", "lastKey"
    )
    select count(*), coalesce(jsonb_object_agg("firstKey", "lastKey") filter (where "firstKey" is not null), '{}')
      into counted, opened from gone;
    ${refuseUnless("counted = jsonb_array_length(batch->'consumes')")}
    changed := changed || opened;
  end if;
  if batch ? 'steps' then
    update instances i set stamp = s.stamp, workflow = s.workflow, hash = s.hash, status = s.status, snapshot = s.snapshot,
        "updatedAt" = s.at, version = i.version + coalesce(s.steps, 1)
      from jsonb_to_recordset(batch->'steps') as s(id text, after text, stamp text, steps int, workflow text, hash text,
        status text, snapshot text, at bigint)
      where i.id = s.id and i.stamp = s.after;
    get diagnostics counted = row_count;
    ${refuseUnless("counted = jsonb_array_length(batch->'steps')")}
  end if;
  if batch ? 'starts' then
    insert into instances select * from jsonb_populate_recordset(null::instances, batch->'starts') on conflict do nothing;
    get diagnostics counted = row_count;
    ${refuseUnless("counted = jsonb_array_length(batch->'starts')")}
  end if;
  if batch ? 'writes' then
    for each in select * from jsonb_array_elements(batch->'writes') loop
      ${refuseUnless("paystate_write_@(each, statements)")}
    end loop;
  end if;
  if batch ? 'ends' then
    with gone as (
      delete from tasks where instance = any(array(select jsonb_array_elements_text(batch->'ends')))
        and kind in ('timer', 'invocation') returning "firstKey", "lastKey"
    )
    ${notedAll("gone")}
  end if;
  if batch ? 'disarms' then
    with gone as (
      delete from tasks using ${eachOf("disarms", "instance text, timer text")}
        where tasks.instance = each_disarms.instance and tasks.name = each_disarms.timer
          and kind in ('timer', 'invocation') returning "firstKey", "lastKey"
    )
    ${notedAll("gone")}
  end if;
  if batch ? 'adopts' then
    update tasks t set workflow = a.workflow
      from jsonb_to_recordset(batch->'adopts') as a(instance text, workflow text)
      where t.instance = a.instance and t.workflow <> a.workflow;
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
      on conflict (kind, key, instance) do update set life = excluded.life, workflow = excluded.workflow, shard = excluded.shard;
  end if;
  if batch ? 'history' then
    insert into history select * from jsonb_populate_recordset(null::history, batch->'history');
  end if;
  ${endGroup}
end $body$;`;
