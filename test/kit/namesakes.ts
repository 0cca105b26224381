/** Files of SQLite in which a host has been. */
import { paymentTables } from "../../src/payments/payment-storage.ts";

/** What a host calls as the engine speaks of its own: tables, a view, an index, a trigger. */
export const NAMESAKES = `
  create table Tasks (id text primary key, what text);
  create index tasks_steps on Tasks (what);
  create table instances (id integer primary key, snapshot text);
  create trigger instances_finished after insert on instances begin
    insert into Tasks values ('of ' || new.id, new.snapshot);
  end;
  create table watches (brand text);
  create view history as select what from Tasks;
  insert into instances values (1, 'sweep');
  insert into watches values ('Omega');`;

/** What a host reads of them afterwards. */
export const READ_NAMESAKES = `select (select group_concat(what) from history) || ' ' ||
  (select group_concat(brand) from watches) || ' ' || (select count(*) from instances)`;

/** What a host calls as the payment service speaks of its own, each with a row. */
export const PAYMENT_NAMESAKES = Object.keys(paymentTables)
  .map((name) => `create table "${name}" (mine text); insert into "${name}" values ('${name}');`)
  .join("\n");

/** What a host reads of them afterwards. */
export const READ_PAYMENT_NAMESAKES = Object.keys(paymentTables)
  .map((name) => `select mine from "${name}"`)
  .join(" union all ");
