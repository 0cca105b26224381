/** The page of one instance: as it stands, and as it stood. */
import type { InspectedEngine } from "../engine/create-engine.ts";
import type { TransactionView } from "../payments/frame/tables/orders.ts";
import type { InspectedPaymentParts } from "../payments/payment-storage.ts";
import type { LedgerCallReads } from "../service/ledger-call-history.ts";
import type { Health } from "../service/read-health.ts";
import type { ChartRegistry } from "./chart-registry.ts";
import { findRelated, relationsOf } from "./find-related.ts";
import { absent, present, type FoundPage } from "./found-page.ts";
import { instancePage } from "./pages/instance-page.ts";
import type { ShownInstance } from "./pages/instance/shown-instance.ts";
import type { Links } from "./pages/page.ts";
import { orderOf, relationsOfOrder } from "./payments/order-of.ts";
import { troublesOf } from "./payments/find-troubles.ts";
import { allShown } from "./payments/module-views.ts";
import type { TimelineCall } from "./payments/module-view.ts";
import { readOrderTree } from "./payments/read-order-tree.ts";
import { readMoney } from "./payments/read-money.ts";
import type { FoundInstance, InstanceReader } from "./read-instances.ts";
import { madeBy, ReplayCache } from "./recount/replay-history.ts";
import type { SecretFilter } from "./show-values.ts";

/** The inspected parts: an engine, and the payments of a payment service. */
export interface InspectedParts extends InspectedEngine {
  readonly payments?: InspectedPaymentParts;
  /** Absent where no service runs. */
  readonly health?: () => Promise<Health>;
  /** Absent where no service runs. */
  readonly calls?: LedgerCallReads;
}

/** Dependencies of the pages of instances. */
interface InstancePageHandlerParts {
  readonly inspected: InspectedParts;
  readonly charts: ChartRegistry;
  readonly reads: InstanceReader;
  readonly redact: SecretFilter;
  /** The page of an instance that has gone with its end; null where nothing is kept of it. */
  readonly gone: (links: Links, query: URLSearchParams) => Promise<FoundPage | null>;
}

export class InstancePageHandler {
  readonly #parts: InstancePageHandlerParts;
  readonly #folding: ReplayCache;

  constructor(parts: InstancePageHandlerParts) {
    this.#parts = parts;
    const { inspected, charts } = parts;
    this.#folding = new ReplayCache(inspected.storage, (key, { workflow, hash }) => {
      const known = charts.get(key);
      // Instances of earlier versions have no stored hash.
      return known === undefined || (key === workflow && known.hash !== hash) ? null : known.workflow;
    });
  }

  async instance(links: Links, query: URLSearchParams): Promise<FoundPage> {
    const id = query.get("id")?.trim() ?? "";
    const step = await this.#stepIn(id, query);
    const found = await this.#parts.reads.find(id, step);
    if (found === null) {
      return (await this.#parts.gone(links, query)) ?? absent(links, `No instance has the id “${id}”.`);
    }
    if (step !== null && step > found.instance.version) {
      return absent(links, `“${id}” has made ${found.instance.version} steps, and no step ${step}.`);
    }
    return present(instancePage(links, await this.#shown(found, step)));
  }

  /** The step that is asked for, by its number or its stamp. */
  async #stepIn(id: string, query: URLSearchParams): Promise<number | null> {
    const text = query.get("step") ?? "";
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    for (let after = 0; text !== "";) {
      const page = await this.#parts.inspected.storage.history(id, { after, limit: HISTORY_PAGE });
      const row = page.find(({ stamp }) => stamp === text);
      if (row !== undefined || page.length < HISTORY_PAGE) return row?.version ?? null;
      after = page.at(-1)?.version ?? 0;
    }
    return null;
  }

  async #shown(found: FoundInstance, step: number | null): Promise<ShownInstance> {
    const { inspected, charts, redact } = this.#parts;
    const { instance } = found;
    const { payments, acting, storage, calls } = inspected;
    const fold = await this.#folding.of(instance);
    const chart = madeBy(fold, step ?? instance.version) ?? instance.workflow;
    const order = payments === undefined ? null : await orderOf(payments, instance.id);
    const ofOrder = payments === undefined || order === null ? null : { payments, order };
    const relations = ofOrder === null ? [] : await relationsOfOrder(ofOrder.payments, ofOrder.order);
    const related = await findRelated(storage, found, [...relations, ...relationsOf(found, fold)]);
    return {
      ...found,
      known: charts.get(chart),
      chart,
      fold,
      step,
      related,
      redact,
      order: ofOrder === null ? null : await readOrderTree(ofOrder.payments, ofOrder.order),
      money: ofOrder === null ? null : await readMoney(ofOrder.payments, ofOrder.order),
      ofModules: ofOrder === null ? [] : await callsOf(ofOrder, instance.id, redact),
      calls: calls?.of(instance.id) ?? [],
      callsSince: calls?.since ?? null,
      trouble: step === null ? await this.#troubleOf(instance.id) : null,
      acts:
        step === null ? ((await acting?.offers(instance.id)) ?? []).filter(({ on }) => on === undefined) : [],
    };
  }

  async #troubleOf(id: string): Promise<string | null> {
    const troubles = await troublesOf(this.#parts.inspected.payments);
    return troubles.find(([instance]) => instance === id)?.[1] ?? null;
  }
}

async function callsOf(
  { payments, order }: { readonly payments: InspectedPaymentParts; readonly order: TransactionView },
  instance: string,
  redact: SecretFilter,
): Promise<readonly TimelineCall[]> {
  const of = { transactionId: order.transaction.id, redact };
  return allShown(async (module) => (await module.calls?.(payments, instance, of)) ?? []);
}

const HISTORY_PAGE = 1_000;
