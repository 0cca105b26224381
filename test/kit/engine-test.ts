/* oxlint-disable vitest/expect-expect, vitest/valid-title -- here tests are said that others write */
/** Tests of engines: each has a world of its own on every adapter that the run draws. */
import { describe, test } from "vitest";
import { adapters, type Adapter } from "./adapters.ts";
import { inWorld, type EngineWorld } from "./engine-world.ts";
import { drawn } from "./thorough.ts";

/** As vitest's own, with a world around the test. */
interface TestInWorld {
  (title: string, act: () => Promise<void>): void;
  readonly each: (typeof test)["each"];
}

/** The way to say a test, and the world of the one that runs. */
export interface EngineTest extends EngineWorld {
  readonly test: TestInWorld;
  readonly world: EngineWorld;
}

/** Puts a world around each test: that of the test that runs is the one to speak of. */
export function testIn<World extends object, Kind extends Pick<Adapter, "name">>(
  { about, kinds }: { readonly about: string; readonly kinds: readonly Kind[] },
  within: (kind: Kind, act: (world: World) => Promise<void>) => Promise<void>,
): { readonly test: TestInWorld; present(): World } {
  let present: World | null = null;
  const onEach = (register: (inOne: (act: () => Promise<void>) => Promise<void>) => void): void => {
    for (const kind of kinds) {
      const inOne = (act: () => Promise<void>): Promise<void> =>
        within(kind, (made) => {
          present = made;
          return act();
        });
      describe(`${about} on ${kind.name}`, () => {
        register(inOne);
      });
    }
  };
  const each =
    (rows: readonly unknown[]) =>
    (title: string, act: (...row: unknown[]) => Promise<void>): void =>
      onEach((inOne) => test.each(rows)(title, (...row) => inOne(() => act(...row))));
  const inAWorld = Object.assign(
    (title: string, act: () => Promise<void>): void => onEach((inOne) => test(title, () => inOne(act))),
    { each: each as TestInWorld["each"] },
  );
  return {
    test: inAWorld,
    present() {
      if (present === null) throw new Error("no test runs that has a world");
      return present;
    },
  };
}

/** @param about what the tests are about: the seed draws an adapter by it. */
export function engineTest(about: string, kinds: readonly Adapter[] = drawn(adapters, about)): EngineTest {
  const { test: inAWorld, present } = testIn({ about, kinds }, inWorld);
  const world: EngineWorld = {
    clock: lent(() => present().clock),
    log: lent(() => present().log),
    storage: lent(() => present().storage),
    engine: (of, ...ids) => present().engine(of, ...ids),
    running: (of, ...ids) => present().running(of, ...ids),
    tasksOf: (instance) => present().tasksOf(instance),
    open: (change) => present().open(change),
    settled: () => present().settled(),
    pass: (ms) => present().pass(ms),
    awaitsOutside: (...ids) => present().awaitsOutside(...ids),
  };
  return { test: inAWorld, world, ...world };
}

/** Stands for what is there by the time of a call. */
export function lent<T extends object>(present: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const member: unknown = Reflect.get(present(), name);
      return typeof member === "function" ? (member.bind(present()) as unknown) : member;
    },
    has: (_, name) => Reflect.has(present(), name),
    ownKeys: () => Reflect.ownKeys(present()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(present(), name),
  });
}
