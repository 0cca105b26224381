/** Shows the runs of deliveries that are no longer stored, as they are told by the rows that they left. */
import type { InspectedStorage } from "../../engine/inspected-engine.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import { type DeliveryChart, recalledRun, type RecalledRun } from "./recalled-run.ts";

const DELIVERY_ID = /^dlv_[0-9a-f]+$/;
const STEPS = 200;

/** Reads the same storage, recalled runs included. A list holds stored instances only. */
export function recallingStorage(storage: PaymentStorage, workflow: DeliveryChart): InspectedStorage {
  const recalled = async (id: string): Promise<RecalledRun | null> => {
    if (!DELIVERY_ID.test(id)) return null;
    const delivery = await storage.delivery(id);
    if (delivery === null) return null;
    const { transactionId } = delivery;
    const [deliveries, notices, steps] = await Promise.all([
      storage.deliveries(transactionId),
      storage.notices(transactionId),
      storage.history(transactionId, { after: 0, limit: STEPS }),
    ]);
    const attempts = (await Promise.all(deliveries.map((each) => storage.deliveryAttempts(each.id)))).flat();
    return recalledRun(workflow, { delivery, attempts, deliveries, notices, steps });
  };
  return {
    ...storage,
    load: async (id) => (await storage.load(id)) ?? (await recalled(id))?.instance ?? null,
    async history(id, page) {
      const stored = await storage.history(id, page);
      if (stored.length > 0 || !DELIVERY_ID.test(id) || (await storage.load(id)) !== null) return stored;
      const { history = [] } = (await recalled(id)) ?? {};
      return history.filter(({ version }) => version > page.after).slice(0, page.limit);
    },
  };
}
