/** Takes an endpoint out of service for a time: its answers count for nothing. */
import { z } from "zod";
import { ENDPOINT_ROLES, type EndpointRole, type Ledger } from "../../../ledger/ledger.ts";
import { isoTime } from "../../frame/iso-time.ts";
import type { ActContext, IntakeRules, SuspendedEndpoint } from "../../frame/intake/rules.ts";
import type { FrameStorage } from "../../frame/frame-storage.ts";
import { storageTime } from "../../frame/service-context.ts";
import { OperatorRefused } from "../../frame/acts/act.ts";
import type { GateAct } from "./gate-act.ts";
import type { GateParts } from "./gate-rule-storage.ts";

/** Taking endpoints out of service. */
export interface EndpointCommands {
  /**
   * Takes an endpoint that answers wrongly out of service for some minutes. A suspended endpoint is not asked, and so
   * cannot contradict. When fewer endpoints are left than must agree, the remaining endpoints are enough, but not to
   * prove that a caller's transaction is dead. The suspension applies to every process on the database within five
   * seconds, and ends by itself. A second suspension replaces the time of the first. Refused for an endpoint that the
   * ledger does not have, and for the last one in service with one of its roles.
   */
  suspendEndpoint(
    wanted: {
      /** The endpoint's name in the ledger: its host, numbered when several endpoints share a host. */
      readonly endpoint: string;
      /** 1 to 1,440 (a day). */
      readonly minutes: number;
    },
    by: ActContext,
  ): Promise<
    ActContext & {
      readonly endpoint: string;
      /** ISO 8601 in UTC. */
      readonly since: string;
      /** The time from which the endpoint is asked again. ISO 8601 in UTC. */
      readonly until: string;
    }
  >;
  /** Ends a suspension early; refused when the endpoint is in service. */
  restoreEndpoint(endpoint: string, by: ActContext): Promise<void>;
}

const MAX_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;

const endpointName = z.string().min(1).max(300);
const wantedSuspension = z.strictObject({
  endpoint: endpointName,
  minutes: z.int().min(1).max(MAX_MINUTES),
});

interface EndpointSetting extends Pick<GateParts, "gates" | "clock"> {
  /**
   * Read for the storage's clock: clocks of processes differ, and a process with a fast clock must not end the
   * suspension of another process.
   */
  readonly storage: Pick<FrameStorage, "time">;
  /** With all of its endpoints. */
  readonly ledger: Pick<Ledger, "endpoints">;
}

type Suspended = Awaited<ReturnType<EndpointCommands["suspendEndpoint"]>>;

export const SUSPEND_ENDPOINT: GateAct<EndpointSetting, z.output<typeof wantedSuspension>, Suspended> = {
  act: "suspend_endpoint",
  given: wantedSuspension,
  what: ({ endpoint, minutes }) => ({ endpoint, minutes }),
  async decide(parts, { endpoint, minutes }, by) {
    const all = await parts.ledger.endpoints();
    const known: readonly string[] = all.map((each) => each.endpoint);
    if (!known.includes(endpoint)) {
      throw new OperatorRefused(`endpoint: expected one of ${known.join(", ")}, not ${endpoint}`);
    }
    const since = await storageTime(parts);
    const suspended = { ...by, endpoint, since, until: since + minutes * MINUTE_MS };
    return {
      accountId: null,
      told: { ...by, endpoint, since: isoTime(since), until: isoTime(suspended.until) },
      change(rules) {
        const others = othersOf(rules, endpoint, since);
        const out = new Set([endpoint, ...others.map((each) => each.endpoint)]);
        refuseLast(
          endpoint,
          all.filter((each) => !out.has(each.endpoint)),
        );
        return { ...rules, suspendedEndpoints: [...others, suspended] };
      },
    };
  },
};

/** Throws where those that are left lack a role. */
function refuseLast(endpoint: string, left: readonly { readonly roles: readonly EndpointRole[] }[]): void {
  const lacking = ENDPOINT_ROLES.filter((role) => !left.some(({ roles }) => roles.includes(role)));
  if (lacking.length === 0) return;
  throw new OperatorRefused(`endpoint: ${endpoint} is the last one in service to ${lacking.join(", ")}`);
}

export const RESTORE_ENDPOINT: GateAct<EndpointSetting, string, void> = {
  act: "restore_endpoint",
  given: endpointName,
  what: (endpoint) => ({ endpoint }),
  async decide(parts, endpoint) {
    const now = await storageTime(parts);
    return {
      accountId: null,
      told: undefined,
      change(rules) {
        const isSuspended = rules.suspendedEndpoints.some(
          (each) => each.endpoint === endpoint && now < each.until,
        );
        if (!isSuspended) throw new OperatorRefused(`endpoint ${endpoint} is in service`);
        return { ...rules, suspendedEndpoints: othersOf(rules, endpoint, now) };
      },
    };
  },
};

/** The other suspensions that have not ended: one may seem not to have begun yet, by the clock of another process. */
function othersOf(
  { suspendedEndpoints }: IntakeRules,
  endpoint: string,
  now: number,
): readonly SuspendedEndpoint[] {
  return suspendedEndpoints.filter((each) => each.endpoint !== endpoint && now < each.until);
}
