/** In the database: a group of commits, one after the other. */
import { GIVEN_UP, REFUSED } from "./states.ts";

/**
 * What a group begins with: names and rows that its items touch are locked in one order, among them the first keys of tasks
 * that are armed, ended, retried, dropped or disarmed. The keys of a task never change, so they are read before.
 */
export const lockGroup = `
  perform paystate_lock_limits_@(array(
    select jsonb_array_elements_text(batch->'keys')
    union
    select "firstKey" from tasks
      where id = any(array(select jsonb_array_elements_text(batch->'touched'))) and "firstKey" is not null
    union
    select "firstKey" from tasks
      where instance = any(array(select jsonb_array_elements_text(batch->'leaving'))) and kind = 'invocation'
        and "firstKey" is not null));
  if batch ? 'names' then perform paystate_lock_@(batch->'names'); end if;
  if batch ? 'rows' then
    for each in select * from jsonb_array_elements(batch->'rows') loop
      execute statements->>(each->>'statement')::int using array(select jsonb_array_elements_text(each->'keys'));
    end loop;
  end if;`;

/** What a group ends with. The row of the writer tells afterwards what became of the group, should its answer be lost. */
export const endGroup = `
  if changed <> '{}' then perform paystate_admit_@(changed); end if;
  update "paystateWriters" set number = (batch->>'number')::bigint, results = jsonb_build_object('answers', answers, 'parked', parked)::text,
      "usedAt" = floor(extract(epoch from clock_timestamp()) * 1000)::bigint
    where id = batch->>'writer' and number < (batch->>'number')::bigint;
  if not found then raise exception using errcode = '${GIVEN_UP}', message = 'this group was given up'; end if;
  return jsonb_build_object('answers', answers, 'parked', parked);`;

/** A group of commits, in their order, each with a subtransaction of its own. */
export const commitGroup = `
create or replace function paystate_commit_@(batch jsonb) returns jsonb language plpgsql as $body$
#variable_conflict use_column
declare
  statements jsonb := batch->'statements';
  answers jsonb := '[]';
  item jsonb;
  each jsonb;
  changed jsonb := '{}';
  parked jsonb := '[]';
begin
  ${lockGroup}
  perform 1 from tasks where id = any(array(select jsonb_array_elements_text(batch->'tasks'))) order by id for update;
  perform 1 from instances where id = any(array(select jsonb_array_elements_text(batch->'instances')))
    order by id for no key update;
  for item in select * from jsonb_array_elements(batch->'items') loop
    begin
      select a.changed, a.parked into changed, parked from paystate_apply_@(item, statements, changed, parked) a;
      answers := answers || '"ok"';
    exception
      when sqlstate '${REFUSED}' then answers := answers || to_jsonb(sqlerrm);
      -- Another transaction was in the way, of the group and not of the item: all of it is tried again.
      when deadlock_detected or serialization_failure or lock_not_available then raise;
      when others then answers := answers || jsonb_build_array(jsonb_build_object('code', sqlstate, 'message', sqlerrm));
    end;
  end loop;
  ${endGroup}
end $body$;`;
