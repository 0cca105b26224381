/** The parts of private mode, on or off: orders are shown while it is off, and nothing of them goes on. */
import type { OfferedAct } from "../../engine/inspected-engine.ts";
import { routingOff } from "../../errors/errors.ts";
import type { ErasureCheck } from "../frame/acts/erasure-check.ts";
import { smallestAmount } from "../frame/assets/assets.ts";
import type { EventNotice } from "../frame/notices/notice-writes.ts";
import type { OpeningDeps, OpenModule, PaymentWay, ReconciledPart } from "../frame/open-module.ts";
import { SENDS } from "../frame/purses/check-purses.ts";
import { ownAddresses, type RoutingWallets } from "../frame/purses/routing-wallets.ts";
import type { CheckedRequest } from "../frame/quotes/checked-request.ts";
import { oldRows } from "../frame/retention/old-rows.ts";
import { depositKeys } from "../frame/secrets/deposit-keys.ts";
import { acceptOrder, type CreatedOrderBody } from "./accept-order.ts";
import type { OrderControl } from "./acts/acting.ts";
import { orderActs } from "./acts/order-acts.ts";
import { lookAtOrder } from "./look.ts";
import { oldOrders } from "./old-orders.ts";
import { openPrivateRouting } from "./open-private-routing.ts";
import { orderNotice } from "./order-events.ts";
import { orderMatters } from "./order-matters.ts";
import { orderMode } from "./order-mode.ts";
import type { RecordEnd } from "./order-workflow.ts";
import type { PrivateOptions } from "./private-routing-options.ts";
import type { PrivateRouting } from "./private-routing.ts";
import type { PrivateStorage, PrivateTables } from "./private-storage.ts";
import { orderQuotes } from "./quote-order.ts";
import { isExplained, noAddresses, reconcileAddresses } from "./reconcile/orders.ts";
import { finishEnds } from "./recovery/finish-ends.ts";
import { journaled, recordEnd, type OrderDecision } from "./recovery/journal.ts";
import {
  recoverCommand,
  refuseRecovery,
  type RecoverCommand,
  type RecoveryCommands,
} from "./recovery/recover.ts";
import { isHeld } from "./screen-order.ts";

type PrivateDeps = OpeningDeps<PrivateStorage, PrivateTables, PrivateOptions>;

export function openPrivateMode(deps: PrivateDeps): OpenModule<CreatedOrderBody> {
  const { options, storage, assets, clock } = deps;
  const { recovery: journal, masterSecrets, ledgerPollMs: intervalMs } = options;
  const recorded: RecordEnd = async (id, end) =>
    journal === undefined ? end : recordEnd({ journal, clock }, id, end);
  const keys = depositKeys(masterSecrets, deps.genesisHash);
  const routing = openPrivateRouting(options.privateRouting, {
    ...deps,
    recordEnd: recorded,
    keys,
    intervalMs,
  });
  const control = routing === null ? null : orderControl(deps, routing);
  return {
    modes: [orderMode({ ...deps, orders: routing?.orders ?? null, recordEnd: recorded })],
    matters: orderMatters(storage, assets),
    orderActs: orderActs({ ...deps, control }),
    commands: {
      recover: routing === null ? refuseRecovery : recovery(deps, routing),
    } satisfies RecoveryCommands,
    cancellable: ["private-order"],
    offers: (instance) => offersOf(storage, instance),
    transactionOf: async (instance) => (await storage.transfer(instance))?.order ?? null,
    erasureCheck: (id) => erasureCheck(storage, id),
    eventNotices: (id) => eventNotices(deps, id),
    oldRows({ keep, ...given }) {
      const parts = { ...given, storage, ...removing(deps, routing, given) };
      return [oldRows(parts, oldOrders(parts, keep.private))];
    },
    reconcile: async (ledger, tell) => {
      if (routing !== null) {
        const { orders } = routing;
        return explained(await reconcileAddresses({ ...deps, ledger, engine: deps.engine(), orders, tell }));
      }
      if ((await storage.ordersAfter("", 1)).length > 0) throw routingOff();
      return explained(noAddresses(assets));
    },
    ...(routing === null ? { off: "private mode" } : partsWhileOn(deps, routing)),
  };
}

/** The parts of private mode that is on. */
function partsWhileOn(deps: PrivateDeps, routing: PrivateRouting): OpenModule<CreatedOrderBody> {
  const { storage, log, engine } = deps;
  const { workflows, watchers } = routing;
  const { recovery: journal } = deps.options;
  return {
    workflows,
    watchers,
    ways: [orderWay(deps, routing)],
    wallets: walletsOf(deps, routing),
    check: (genesisHash) => routing.check(genesisHash),
    warn: () => routing.warn(),
    async beforeWork() {
      if (journal === undefined) return;
      await finishEnds({
        storage,
        journal,
        log,
        send: (id, event) => engine().send(routing.orders, id, event),
      });
    },
  };
}

/** The host's journal, if any, records an order before anybody knows its address. */
function orderWay(deps: PrivateDeps, routing: PrivateRouting): PaymentWay<CreatedOrderBody> {
  const { clock, options } = deps;
  const own = ownAddresses(walletsOf(deps, routing), deps.swapper);
  const accepting = { ...deps, routing, ownAddresses: own };
  const accept = (request: CheckedRequest): Promise<OrderDecision> => acceptOrder(accepting, request);
  const { recovery: journal } = options;
  return {
    ...orderQuotes({ ...accepting, pricing: routing.pricing }),
    accept: journal === undefined ? accept : journaled(accept, { journal, clock }),
  };
}

function walletsOf({ assets }: PrivateDeps, { terms, pricing }: PrivateRouting): RoutingWallets {
  return {
    sponsor: terms.sponsor.address,
    treasury: terms.treasury,
    sponsorLowBelow: async () => terms.lowBalance ?? (await pricing.dearestSend(assets)) * SENDS,
  };
}

function orderControl(deps: PrivateDeps, routing: PrivateRouting): OrderControl {
  const { engine, bindToChain, swapper } = deps;
  return {
    async look(id) {
      await bindToChain();
      return lookAtOrder(deps, id);
    },
    send: (id, event, commit) => engine().send(routing.orders, id, event, commit),
    commit: (commit) => engine().commit(commit),
    wake: (transfer) => engine().send(routing.transfers, transfer, { type: "RETRY" }),
    planTransfer: routing.plan,
    screen: routing.terms.screen,
    ownAddresses: ownAddresses(walletsOf(deps, routing), swapper),
  };
}

function recovery(deps: PrivateDeps, routing: PrivateRouting): RecoverCommand {
  const { masterSecrets, recovery: journal = null } = deps.options;
  const masterVersions = masterSecrets.map(({ version }) => version);
  return async (orders, by) => {
    await deps.bindToChain();
    const parts = { ...deps, engine: deps.engine(), routing, masterVersions, journal };
    return recoverCommand(parts)(orders, by);
  };
}

/** How old orders are ended and looked at. */
function removing(
  deps: PrivateDeps,
  routing: PrivateRouting | null,
  { ledger }: Pick<PrivateDeps, "ledger">,
): Pick<Parameters<typeof oldOrders>[0], "stopInstance" | "look" | "wake"> {
  const { engine } = deps;
  const looking = { ...deps, ledger, ...(routing === null ? {} : { prices: routing.terms.prices }) };
  return {
    stopInstance: (id) => engine().stopInstance(id),
    look: (id) => lookAtOrder(looking, id),
    wake: async (id) => routing && engine().send(routing.orders, id, { type: "LOOK" }),
  };
}

const RELEASE: OfferedAct = {
  key: "release",
  label: "Release the order",
  consequence:
    "Its holds end: its recipients are paid, or what is there goes back. If one is of screening, who has paid in so far needs none any more.",
};

async function offersOf(
  storage: Pick<PrivateStorage, "orderViews">,
  instance: string,
): Promise<readonly OfferedAct[]> {
  const [order] = await storage.orderViews([instance]);
  return order !== undefined && isHeld(order) ? [RELEASE] : [];
}

const DAY_MS = 24 * 3_600_000;

async function erasureCheck(
  storage: Pick<PrivateStorage, "orderViews">,
  id: string,
): Promise<ErasureCheck | null> {
  const [order] = await storage.orderViews([id]);
  if (order === undefined) return null;
  return {
    instances: order.transfers.map((transfer) => transfer.id),
    refusal: isHeld(order) ? "its deposit address is held" : null,
    leastAgeMs: 60 * DAY_MS,
    young: "its deposit address is under 60 days old, and money may still come",
  };
}

async function eventNotices({ storage, assets }: PrivateDeps, id: string): Promise<EventNotice> {
  const [order = null] = await storage.orderViews([id]);
  const smallest = order === null ? 0n : smallestAmount(assets.named(order.order.mint));
  return (event, rows, now) => orderNotice(event, { ...rows, order, smallest }, now);
}

function explained(body: Awaited<ReturnType<typeof reconcileAddresses>>): ReconciledPart {
  return { body, isExplained: isExplained(body) };
}
