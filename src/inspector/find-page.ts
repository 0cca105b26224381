/** Which page stands at a path: each is a function from what is stored to HTML. */
import type { Clock } from "../runtime.ts";
import type { Charts } from "./charts.ts";
import { absent, type FoundPage } from "./found-page.ts";
import { InstancePages, type InspectedParts } from "./find-instance-page.ts";
import { chartPage, chartsPage } from "./pages/chart-pages.ts";
import { healthPage } from "./pages/health-page.ts";
import { listPage } from "./pages/list-page.ts";
import type { Links, PageParts } from "./pages/page.ts";
import { InstanceReads, type ListQuery } from "./read-instances.ts";
import type { Redact } from "./show-values.ts";

/** What pages are made of. */
export interface PagesParts {
  readonly inspected: InspectedParts;
  readonly clock: Clock;
  readonly charts: Charts;
  readonly redact: Redact;
}

export class Pages {
  readonly #charts: Charts;
  readonly #reads: InstanceReads;
  readonly #instances: InstancePages;
  readonly #redact: Redact;

  constructor({ inspected, charts, redact, clock }: PagesParts) {
    this.#charts = charts;
    this.#reads = new InstanceReads(inspected, charts);
    this.#instances = new InstancePages({ inspected, charts, reads: this.#reads, redact, clock });
    this.#redact = redact;
  }

  /** `path` is what follows the address of the list. */
  async find(links: Links, path: string, query: URLSearchParams): Promise<FoundPage> {
    switch (path) {
      case "":
      case "/":
        return { status: 200, parts: await this.#list(links, query) };
      case "/instance":
        return this.#instances.instance(links, query);
      case "/what-if":
        return this.#instances.whatIf(links, query);
      case "/charts":
        return { status: 200, parts: chartsPage(links, this.#charts.all()) };
      case "/chart": {
        const known = this.#charts.get(query.get("key") ?? "");
        return known === undefined
          ? absent(links, "No such chart is registered in this process.")
          : { status: 200, parts: await chartPage(links, known) };
      }
      case "/health":
        return { status: 200, parts: healthPage(links, await this.#reads.queue(), this.#redact) };
      default:
        return absent(links, "There is no such page.");
    }
  }

  async #list(links: Links, params: URLSearchParams): Promise<PageParts> {
    const query = listQuery(params);
    const workflows = this.#charts.all().map(({ key }) => key);
    return listPage(links, { list: await this.#reads.list(query), query, workflows, redact: this.#redact });
  }
}

/** The filters of a list as they stand in its address. What cannot be read narrows nothing. */
function listQuery(params: URLSearchParams): ListQuery {
  const workflow = params.get("workflow") ?? "";
  const status = params.get("status");
  const [, createdAt = "", id = ""] = /^(\d{1,15}):(.+)$/s.exec(params.get("before") ?? "") ?? [];
  return {
    ...(workflow === "" ? {} : { workflow }),
    ...(status === "active" || status === "done" ? { status } : {}),
    ...(createdAt === "" ? {} : { before: { createdAt: Number(createdAt), id } }),
  };
}
