/** The service that goes on after the world's own has been stopped, as after a restart. */
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import { passTime } from "../../kit/pass-time.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";

export interface Successor {
  readonly service: PaymentService;
  /** Lets slots pass until what is under way has become final, as often as it takes. */
  settle(rounds: number): Promise<void>;
  /** Lets time and slots pass. */
  pass(ms: number): Promise<void>;
}

/** More blocks than signed bytes live. */
const LIFE_OF_BYTES = 200;
const SLOTS_TO_FINALITY = 35;

/** It is started, and works on the world's storage and chain. */
export async function successor(
  world: PrivateFixture,
  options: Partial<PaymentServiceOptions> = {},
): Promise<Successor> {
  const { chain, clock, storage } = world;
  const service = world.another(options);
  await service.start();
  const settle = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      await service.settled();
      chain.advance(SLOTS_TO_FINALITY);
      await service.settled();
    }
  };
  return {
    service,
    settle,
    async pass(ms) {
      chain.advance(LIFE_OF_BYTES);
      const { workflows } = service;
      await passTime({ clock, engine: service, storage, workflows }, clock.now() + ms);
      await settle(4);
    },
  };
}
