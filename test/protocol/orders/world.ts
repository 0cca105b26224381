/** What happens without the service: money, prices, holds, lies, and bytes that land or die. */
import type { Scenario } from "./scenario.ts";
import {
  ALL,
  DUST,
  MONEY,
  type Money,
  type Move,
  type Moves,
  type OrderState,
  service,
  world,
  WORTH,
} from "./state.ts";

/** Everything that may happen now. */
export function* happenings(state: OrderState, scenario: Scenario): Moves {
  yield* money(state, scenario);
  yield* prices(state, scenario);
  yield* people(state, scenario);
  if (scenario.happens?.includes("lies") === true) yield* lies(state);
  if (state.lie !== "none") yield service("all witnesses tell the truth", { lie: "none", isMissed: false });
  if (state.marker0 === "none") yield* chunk0(state, scenario);
  else if (state.marker0 === "go" && state.marker1 === "none") yield* chunk1(state, scenario);
}

function* money(state: OrderState, { without }: Scenario): Moves {
  for (let more = state.money + 1; more <= ALL; more += 1) {
    const isDust = more === DUST;
    const isScreenedAnew = !isDust || without === "a payer of dust needs no screening";
    yield world(`${MONEY[more]} is there`, {
      money: more as Money,
      payers: isScreenedAnew ? "unknown" : state.payers,
      isReleased: isDust && state.isReleased,
    });
  }
  if (state.money === WORTH && state.marker0 === "none") yield world("costs rise", { money: 2 });
  if (!state.isWindowOver) yield world("the window is over", { isWindowOver: true });
}

function* prices({ place, isPriceKnown, isBelow }: OrderState, { happens }: Scenario): Moves {
  if (happens?.includes("prices") === true) {
    yield world(isPriceKnown ? "no price is known" : "a price is known", { isPriceKnown: !isPriceKnown });
  }
  if (place === "deciding" && !isBelow) yield world("the price falls below the minimum", { isBelow: true });
}

function* people(state: OrderState, { happens = [] }: Scenario): Moves {
  const { place, isHeld, isUnpayable, payers } = state;
  if (!isHeld) yield world("a hold opens", { isHeld: true });
  else {
    // By a person, or never.
    const isReleased = happens.includes("screening") ? payers !== "clean" : state.isReleased;
    yield world("a person releases it", { isHeld: false, isReleased });
  }
  if (happens.includes("culprits") && place === "deciding" && !isUnpayable) {
    yield world("no payee of chunk 0 can take the money", { isUnpayable: true });
  }
}

/** What nobody wanted before the lie stays unpaid, and was told otherwise: its matter is for a person. */
function* lies({ marker0, marker1, hasLied, isNobodyWanted, isForeclosed }: OrderState): Moves {
  if (hasLied) return;
  if (marker0 === "none") {
    for (const lie of ["go", "noGo"] as const) {
      yield world(`all witnesses say ${lie}`, { hasLied: true, lie, isDeclined: isNobodyWanted });
    }
  } else if (marker0 === "go" && marker1 === "none") {
    const isDeclined = isForeclosed;
    yield world("all witnesses say that chunk 1 stands", { hasLied: true, lie: "chunk 1", isDeclined });
  }
}

function* chunk0(state: OrderState, { copies }: Scenario): Moves {
  const { go, isNoGoSigned } = state;
  const lands = (isOwn: boolean, act: string, to: Partial<OrderState>): Move =>
    isOwn ? service(act, to) : world(act, to);
  const canPay = state.money === ALL && !state.isUnpayable;
  if (canPay && (go === "alive" || copies === "any")) {
    yield lands(go === "alive", "a go lands", { marker0: "go", money: WORTH });
  }
  if (go === "alive") yield service("the own go is finalized-dead", { go: "dead" });
  if (isNoGoSigned || copies === "any") yield lands(isNoGoSigned, "a no-go lands", { marker0: "noGo" });
}

function* chunk1(state: OrderState, { copies }: Scenario): Moves {
  const { isChunk1Signed, isForeclosed } = state;
  if (state.money >= WORTH && (isChunk1Signed || copies === "any")) {
    const move = isChunk1Signed ? service : world;
    yield move("chunk 1 lands", { marker1: "all" });
  }
  if (isForeclosed) yield service("chunk 1 lands as nobody", { marker1: "nobody" });
}
