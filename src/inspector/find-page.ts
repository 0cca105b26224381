/** Routes paths to pages, and searches to instances: a page is a function from stored data to HTML. */
import { instanceFinder } from "../workflow/instance-finders.ts";
import { listedBy, listName } from "../engine/list-name.ts";
import type { Clock } from "../core/runtime.ts";
import type { ChartRegistry } from "./chart-registry.ts";
import { absent, present, type FoundPage } from "./found-page.ts";
import { troublesOf } from "./payments/find-troubles.ts";
import { allShown } from "./payments/module-views.ts";
import { actsSection } from "./pages/act-pages.ts";
import { searchPage, listPage } from "./pages/list-page.ts";
import { timersPage } from "./pages/timers-page.ts";
import { InstancePageHandler, type InspectedParts } from "./find-instance-page.ts";
import { chartPage, chartsPage } from "./pages/chart-pages.ts";
import { healthPage } from "./pages/health-page.ts";
import type { Links, PageParts } from "./pages/page.ts";
import { InstanceReader, type ListQuery } from "./read-instances.ts";
import { offersOn } from "./section.ts";
import { SECTIONS } from "./sections.ts";
import type { SecretFilter } from "./show-values.ts";
import type { InspectedPaymentParts } from "../payments/payment-storage.ts";
import { parseAddress, type Address } from "../core/address.ts";
import type { RelatedId } from "./find-related.ts";

/** Dependencies of the pages. */
interface PageHandlerParts {
  readonly inspected: InspectedParts;
  readonly clock: Clock;
  readonly charts: ChartRegistry;
  readonly redact: SecretFilter;
}

export class PageHandler {
  readonly #parts: PageHandlerParts;
  readonly #reads: InstanceReader;
  readonly #instances: InstancePageHandler;

  constructor(parts: PageHandlerParts) {
    const { inspected, charts } = parts;
    this.#parts = parts;
    this.#reads = new InstanceReader(inspected, charts, () => troublesOf(inspected.payments));
    this.#instances = new InstancePageHandler({
      ...parts,
      reads: this.#reads,
      gone: (links, query) => this.#gone(links, query),
    });
  }

  /** `path` is what follows the address of the list. */
  async find(links: Links, path: string, query: URLSearchParams): Promise<FoundPage> {
    switch (path) {
      case "":
      case "/":
        return { status: 200, parts: await this.#list(links, query) };
      case "/instance":
        return this.#instances.instance(links, query);
      case "/charts":
        return { status: 200, parts: chartsPage(links, this.#parts.charts.all()) };
      case "/chart": {
        const known = this.#parts.charts.get(query.get("key") ?? "");
        return known === undefined
          ? absent(links, "No such chart is registered in this process.")
          : { status: 200, parts: chartPage(links, known) };
      }
      case "/find":
        return this.#search(links, query.get("q")?.trim() ?? "");
      case "/timers":
        return present(timersPage(links, await this.#reads.timers()));
      case "/health":
        return this.#health(links);
      default: {
        const section = SECTIONS.find((each) => [each.path, each.one].includes(path.slice(1)));
        const { inspected, redact } = this.#parts;
        return section?.find(links, inspected, { query, redact }) ?? absent(links, "There is no such page.");
      }
    }
  }

  async #gone(links: Links, query: URLSearchParams): Promise<FoundPage | null> {
    const { inspected, redact } = this.#parts;
    for (const section of SECTIONS) {
      const found = (await section.gone?.(links, inspected, { query, redact })) ?? null;
      if (found !== null) return found;
    }
    return null;
  }

  /** Exactly one hit is gone to at once. */
  async #search(links: Links, text: string): Promise<FoundPage> {
    const hits = await search(this.#parts.inspected, text);
    const [only, another] = hits;
    const page = present(searchPage(links, text, hits));
    return only === undefined || another !== undefined ? page : { ...page, to: links.instance(only[0]) };
  }

  async #health(links: Links): Promise<FoundPage> {
    const service = (await this.#parts.inspected.health?.()) ?? null;
    return present(healthPage(links, { ...(await this.#reads.queue()), service }, this.#parts.redact));
  }

  async #list(links: Links, params: URLSearchParams): Promise<PageParts> {
    const asked = listQuery(params);
    const { workflow = "", status, attention } = asked;
    // Fields and states are those of one chart.
    const known = this.#parts.charts.get(workflow)?.workflow ?? null;
    const fields = known === null ? [] : instanceFinder.fieldsOf(known);
    const { where, state } = listedBy(params);
    const given = Object.fromEntries(Object.entries(where).filter(([field]) => fields.includes(field)));
    const query = {
      ...asked,
      ...(Object.keys(given).length > 0 && { where: given }),
      ...(known !== null && state !== null && { state }),
    };
    const isWhole = known === null || status === "done" || attention === true;
    const name = listName({ workflow, where: given, state });
    const acts = isWhole ? [] : await offersOn(this.#parts.inspected.acting, name, "list");
    return listPage(links, {
      list: await this.#reads.list(query),
      query,
      hasPayments: this.#parts.inspected.payments !== undefined,
      workflows: this.#parts.charts.all().map(({ key }) => key),
      fields,
      acts: acts.length === 0 ? null : actsSection(links, name, acts),
      redact: this.#parts.redact,
    });
  }
}

/** The filters of a list as they stand in its address. An unreadable filter narrows nothing. */
function listQuery(params: URLSearchParams): ListQuery {
  const workflow = params.get("workflow") ?? "";
  const status = params.get("status");
  const [, createdAt = "", id = ""] = /^(\d{1,15}):(.+)$/s.exec(params.get("before") ?? "") ?? [];
  return {
    ...(params.get("attention") === "1" ? { attention: true } : {}),
    ...(workflow === "" ? {} : { workflow }),
    ...(status === "active" || status === "done" ? { status } : {}),
    ...(createdAt === "" ? {} : { before: { createdAt: Number(createdAt), id } }),
  };
}

const MAX_HITS = 50;
const MAX_ACCOUNTS = 1_000;

/** Searches instances; returns each id with the reason. The likeliest instance comes first. */
async function search({ storage, payments }: InspectedParts, text: string): Promise<RelatedId[]> {
  const own = (await storage.load(text)) === null ? [] : [[text, "its id"] as const];
  const others = payments === undefined ? [] : await searchPayments(payments, text);
  const hits = new Map([...others, ...own]);
  const found = await Promise.all(
    [...hits].slice(0, MAX_HITS).map(async (hit) => ((await storage.load(hit[0])) === null ? [] : [hit])),
  );
  return found.flat();
}

async function searchPayments(payments: InspectedPaymentParts, text: string): Promise<RelatedId[]> {
  const { reads } = payments;
  const parsed = parseAddress(text);
  const named = "address" in parsed ? parsed.address : null;
  const [attempts, own, quote, notice] = await Promise.all([
    reads.attempts([text]),
    allShown((module) => module.search(payments, text)),
    reads.quote(text),
    reads.notice(text),
  ]);
  return [
    ...attempts.map(({ transactionId }) => [transactionId, "its signature"] as const),
    ...own,
    ...(quote === null || quote.usedBy === null ? [] : [[quote.usedBy, "its quote"] as const]),
    ...(notice === null ? [] : [[notice.transactionId, "its notice"] as const]),
    ...(await searchAccounts(payments, text, named)),
  ];
}

/** References and recipients are found account by account. */
async function searchAccounts(
  { reads }: InspectedPaymentParts,
  reference: string,
  recipient: Address | null,
): Promise<RelatedId[]> {
  const page = { below: null, limit: MAX_HITS };
  const accounts = await reads.accountsAfter("", MAX_ACCOUNTS);
  const found = await Promise.all(
    accounts.map(async ({ id }): Promise<RelatedId[]> => {
      const named = await reads.transactionsOf(id, { reference }, page);
      const paid = recipient === null ? [] : await reads.transactionsOf(id, { recipient }, page);
      return [
        ...named.map((each): RelatedId => [each.id, "its reference"]),
        ...paid.map((each): RelatedId => [each.id, "a recipient of it"]),
      ];
    }),
  );
  return found.flat();
}
