/** In the database: a group of commits, one after the other. */
import { GIVEN_UP, REFUSED } from "./states.ts";

/** PostgreSQL keeps 64 subtransactions of a session where others can look them up quickly. */
const SUBTRANSACTIONS = 48;

/** What a group begins with: names and rows that its items touch are locked in one order. */
export const lockGroup = `
  if batch ? 'names' then perform paystate_lock_@(batch->'names'); end if;
  if batch ? 'rows' then
    for each in select * from jsonb_array_elements(batch->'rows') loop
      execute statements->>(each->>'statement')::int using array(select jsonb_array_elements_text(each->'keys'));
    end loop;
  end if;`;

/** What a group ends with. The row of the writer tells afterwards what became of the group, should its answer be lost. */
export const endGroup = `
  if cardinality(changed) > 0 then perform paystate_settle_@(armed, changed); end if;
  update "paystateWriters" set number = (batch->>'number')::bigint, results = answers::text,
      "usedAt" = floor(extract(epoch from clock_timestamp()) * 1000)::bigint
    where id = batch->>'writer' and number < (batch->>'number')::bigint;
  if not found then raise exception using errcode = '${GIVEN_UP}', message = 'this group was given up'; end if;
  return answers;`;

/**
 * A group of commits, in their order, each with a subtransaction of its own, and no more of them than PostgreSQL keeps at
 * hand for a session; the answer is shorter then than what was asked.
 */
export const commitGroup = `
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
  perform 1 from tasks where id = any(array(select jsonb_array_elements_text(batch->'tasks'))) order by id for update;
  perform 1 from instances where id = any(array(select jsonb_array_elements_text(batch->'instances')))
    order by id for no key update;
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
