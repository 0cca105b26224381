/** The text of `paystate --help`. */
import { FOR_MANY_USAGE } from "./instances/for-many-usage.ts";
import { SCHEDULES_USAGE } from "./schedules-usage.ts";

export const USAGE = `paystate init [engine|payments] [FOLDER]
    Writes a project that runs: a durable chart (engine, the default) or an Express app with the payment API on a chain for
    development, each with a test on a virtual clock. FOLDER is new or empty, default paystate-engine or paystate-payments.

paystate dev [--port N] [--rpc-port N] [--data DIR] [--slot-ms N] [--broadcast-delay-ms N] [--json] [--debug]
    Starts a local chain, a database, the payment service and its HTTP handler.
      --port N       where the API listens, default 3210; 0 takes any free port
      --rpc-port N   where the chain's JSON-RPC listens, default 8899; 0 takes any free port
      --data DIR     where everything is kept, default .paystate; started again on it, all goes on
      --slot-ms N    how long a slot of the chain lasts, default 400
      --broadcast-delay-ms N  how long a payment of wallet mode can still be cancelled, default 0
      --json         exactly one line on stdout once ready, for programs; logs go to stderr
      --debug        logs everything, and shows where an error comes from

paystate listen --forward-to URL [--port N] [--events EVENT,…] [--data DIR]
    Receives the webhooks of the paystate dev that runs, verifies and shows each, and forwards it to your own program,
    whose answer the service gets. Ctrl-C ends it, and removes the webhooks that it registered.
      --forward-to URL  where your program takes webhooks, http or https
      --port N          where it listens, default 3211; 0 takes any free port
      --events EVENT,…  default all
      --data DIR        the folder of the paystate dev, default .paystate

paystate machines [NAME|MODULE …] [--format mermaid|svg|json]
    Prints the state charts, all or the named ones, or those that a module of yours exports; as svg one, which takes the
    package elkjs.

paystate explain CODE[.REASON]
    Says what an error of the API means, and what to do about it, such as INVALID_QUOTE or INVALID_QUOTE.expired.

paystate inspect FILE [--charts MODULE] [--port N] [--json]
    Shows a database file, also a copy of one, in the pages of the inspector. It is only read. A bundle that an inspector
    has exported is shown in the same way.
      --charts MODULE  a module that exports your own workflows; without it their stored rows are shown, and no drawing
      --port N         where the pages are, default 3212; 0 takes any free port
      --json           one line with the address

paystate reconcile [--data DIR | --service FILE] [--json]
    Holds every deposit address of private mode against the chain and says what became of every base unit. Ends
    with 0 when everything is explained, with 1 when something is not, and with 2 when the chain cannot be read, and
    nothing can be said.
      --data DIR      the folder of a paystate dev, default .paystate; whether it runs or not
      --service FILE  your own service instead: a module that exports it as \`service\`
      --json          one line of JSON

paystate account export ACCOUNT_ID --from TIME --to TIME [--by created|final] [--data DIR | --service FILE]
    Prints the sums of its transactions of up to 31 days as CSV. The last line, #end,<rows>, says that it is whole.
      --by final  by the time when their ends were written down, instead of that when they were taken

The operator's room. Each takes --data DIR or --service FILE as above, and --json for one line of JSON. What changes
anything also takes --actor NAME and --reason TEXT, which are kept in the audit log.

paystate attention
    Lists what needs a person, oldest first, and what can be done about it.

paystate purses
    What the service's own wallets hold, what of it is promised, what the last day took, and how long the rest lasts.

paystate resolve ID --action retry|drop|writeOff|settle|hold|release|decline|foreclose|conclude|refundTo|collect|foreign
    Decides about a matter, or about an order of private mode by the id of its transaction.
      --signature SIGNATURE             of settle: under which it landed
      --chunk NUMBER                    of foreclose: the group of recipients that is given up, from 1
      --address ADDRESS --asset ASSET   of refundTo: who gets what is there; the asset is the order's own by default
      --mint MINT --address ADDRESS     of foreign: which tokens go; to the sender by default

paystate approve ID [--address ADDRESS]
    Confirms what was asked for last about it, with the address that gets the money, if anybody gets any.

paystate pause|resume [--mode wallet|private] [--asset ASSET] [--type send|swap|payroll] [--account ID]
paystate suspend|restore ACCOUNT_ID
paystate paused
    Takes nothing new, or does again; lists what is paused and who is suspended. What is under way goes on.

paystate limits [--asset ASSET [--per-transaction AMOUNT] [--per-day AMOUNT] [--direction in|out] [--account ID]]
    Sets limits on amounts, for one account or for every account; with an asset alone ends them. Then lists them all.

paystate witnesses --lower NUMBER --minutes MINUTES
paystate witnesses --restore
    While endpoints are missing: believes what is final on the word of fewer, for a day at most; ends that early.

paystate endpoint --suspend NAME --minutes MINUTES
paystate endpoint --restore NAME
    Takes an endpoint that answers wrongly out of service, for a day at most; ends that early.

paystate account erase ACCOUNT_ID [--reference REFERENCE]
    Erases what names people, of a suspended account or of one customer's transactions, once nothing of it is open and its
    deposit addresses are 60 days old. The same command by another --actor does it; amounts, addresses and signatures stay.

paystate audit [--after ID] [--limit N]
    Prints the audit log, oldest first.

paystate settle TRANSACTION_ID --signature SIGNATURE
    Settles a wallet transaction, also one that was cancelled or given up, by what the chain shows of this signature.

paystate recover FILE
    Brings back the orders of a recovery journal that the database does not know: what lies there goes back to the senders.

Accounts and their keys, straight on a database; a service may be at work on it. Each takes --json.
      --data DIR       the folder of a paystate dev, default .paystate
      --database FILE  your own database instead; for PostgreSQL its URL
      --schema NAME    the schema of paystate in PostgreSQL, default paystate

paystate accounts create NAME --tier free|pro|enterprise
paystate accounts list

paystate keys create ACCOUNT_ID [--scopes SCOPE,…] [--allow ADDRESS,…] [--expires-in DAYS]
paystate keys list ACCOUNT_ID
paystate keys rotate KEY_ID [--overlap TIME]
paystate keys revoke KEY_ID
    A key is shown once, when it is made. One that is revoked is refused from its next request on.
      --allow ADDRESS,…  addresses or networks that it may be used from, such as 203.0.113.0/24; default any
      --overlap TIME     how long the key before still works, such as 30m, 24h (default) or 7d

paystate backup FILE [--data DIR | --database FILE] [--json]
    Copies an SQLite database to a new file, also while a service works on it, and checks the copy.

paystate migrate --from FILE --to URL [--schema NAME] [--json]
    Moves an SQLite database into PostgreSQL while no process has it open, reads every row back, and gives the file up. Cut
    off, it is run again and goes on; file and target can never be used both.
      --to URL       such as postgres://user@host:5432/database
      --schema NAME  the schema that is made there, default paystate

paystate doctor [--data DIR | --database FILE] [--service FILE] [--full] [--live] [--json]
    Looks for what is wrong with this machine, a database file and a service, and says what to do about it: a line for each
    check, ok, warning or wrong. Changes nothing. Ends with 1 when something is wrong. A URL of PostgreSQL goes with
    --service, through which it is asked.
      --full  reads each page of the file, and not some rows of each table: seconds for each gigabyte
      --live  looks also for what is not ready for real money: witnesses, limits, fees, prices, screening, purses, the
              place of the master secret; ends with 2 when something is to look at, so that it can be a gate

paystate trigger EVENT --to URL [--secret SECRET]
paystate trigger EVENT --webhook ID --account ID [--data DIR | --service FILE]
    Sends one sample notice of this event, signed like a real one. Ends with 0 when the receiver answers 200.

Instances of any database, also while a service runs on it. Each takes --database FILE (or the URL of PostgreSQL, with
--schema NAME), or --data DIR for the folder of a paystate dev (default .paystate), and --json for one line of JSON.

paystate ps [--workflow NAME] [--state STATE] [--status STATUS] [--failing] [--after PLACE] [--limit N] [--watch]
    Lists instances: workflow, state, and what fails of them.
      --status STATUS   active (default), done, stopped, error or all
      --failing         only those with a task that fails or was set aside
      --watch           prints the list again whenever it has changed, until Ctrl-C

paystate show ID [--charts MODULE]
    One instance: why it waits, its chart with the active state marked, its last steps, and all that is pending; of a payroll
    how many are paid. The charts of payments are known; --charts names a module that exports your own.

paystate history ID [--after STEP] [--limit N]
    The steps of an instance, oldest first.

paystate send ID EVENT
    Hands an event to an instance, by a process that has its chart: its type, or JSON with a type.

paystate retry ID
    Makes what fails or was set aside of an instance due now.

${FOR_MANY_USAGE}
paystate drop ID
paystate stop ID
paystate remove ID
    Never does what was set aside of an instance; ends it with its children, by a process that has its chart; removes one
    that has ended, with its history. Instances of the payment service are left to the operator's room.

${SCHEDULES_USAGE}
A MODULE, or the FILE of --service, is JavaScript, or TypeScript where tsx is installed or Node itself runs it.

paystate --version
paystate --help`;
