/** Who holds a task: dead holders are succeeded, late ones are not heard, and poison is set aside. */
import { describe, expect, test } from "vitest";
import type { Clock } from "paystate/engine";
import { adapters } from "../kit/adapters.ts";
import { gate, inWorld, turns, until, type EngineWorld } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { drawn } from "../kit/thorough.ts";
import { job } from "./job.ts";
import { taskIdAt } from "../kit/task-ids.ts";

const LEASE = 15_000;

describe.each(drawn(adapters, "leases"))("leases on $name", (adapter) => {
  test("E11: a dead process loses its task to another one, and its late result changes nothing", () =>
    inWorld(adapter, async ({ engine, clock, open, storage, settled, log }) => {
      // The process is dead to everybody else: its clock stands still, so it sends no heartbeat.
      const frozen = virtualClock(clock.now());
      const hanging = gate();
      let crashes = -1;
      const dead = job(async () => {
        await hanging.opened;
        return { event: { type: "DONE", by: "dead" } };
      });
      const alive = job(async (_params, run) => {
        crashes = run.crashes;
        return { event: { type: "DONE", by: "alive" } };
      });
      const first = await engine({ workflows: [dead], storage: await open(), clock: frozen });
      first.run();
      await first.start(dead, { id: "j", input: { id: "j" } });
      const second = await engine({ workflows: [alive] });
      second.run();
      clock.advance(LEASE - 1);
      await second.settled();
      expect(crashes).toBe(-1);
      clock.advance(1);
      await second.settled();
      expect(crashes).toBe(1);
      const ended = await storage.load("j");
      hanging.open();
      await settled();
      expect(await storage.load("j")).toEqual(ended);
      expect((await storage.history("j", { after: 1, limit: 10 })).map(({ event }) => event)).toEqual([
        '{"type":"DONE","by":"alive"}',
      ]);
      const task = await taskIdAt(storage, "j");
      expect(log.commits.filter(({ commit }) => commit.consumes?.task === task)).toHaveLength(1);
    }));

  test("a holder that learns that its lease is lost aborts what it still does", () =>
    inWorld(adapter, async ({ engine, clock, open, settled }) => {
      const frozen = virtualClock(clock.now());
      const aborted: string[] = [];
      const jobs = job(async (_params, { signal, crashes }) => {
        if (crashes > 0) return { event: { type: "DONE", by: "other" } };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        aborted.push("first");
        return undefined;
      });
      const first = await engine({ workflows: [jobs], storage: await open(), clock: frozen });
      first.run();
      await first.start(jobs, { id: "j", input: { id: "j" } });
      const second = await engine({ workflows: [jobs] });
      second.run();
      clock.advance(LEASE);
      await second.settled();
      expect(aborted).toEqual([]);
      frozen.set(clock.now());
      await until(() => aborted.length > 0);
      await settled();
      expect(await second.read("j")).toMatchObject({ value: "done" });
    }));

  test("a handler that takes an hour keeps its task as long as its process lives", () =>
    inWorld(adapter, async ({ engine, open, clock, settled }) => {
      const hanging = gate();
      let beats = 0;
      let runs = 0;
      const slow = job(async () => {
        runs += 1;
        await hanging.opened;
        return { event: { type: "DONE", by: "me" } };
      });
      const handle = await open();
      const storage: typeof handle = {
        ...handle,
        async heartbeat(request) {
          const lost = await handle.heartbeat(request);
          beats += 1;
          return lost;
        },
      };
      const holder = await engine({ workflows: [slow], storage });
      holder.run();
      await holder.start(slow, { id: "j", input: { id: "j" } });
      const other = await engine({ workflows: [slow] });
      other.run();
      let lookedAt = clock.now();
      for (let minute = 0; minute < 60; minute++) {
        for (let third = 0; third < 12; third++) {
          const before = beats;
          clock.advance(LEASE / 3);
          await until(() => beats > before);
          // The next sleep is a turn of the event loop away.
          await turns(5);
        }
        await other.settled();
        lookedAt = clock.now();
      }
      expect(lookedAt - clock.now()).toBe(0);
      expect(runs).toBe(1);
      hanging.open();
      await settled();
      expect(await holder.read("j")).toMatchObject({ value: "done" });
    }));

  test("R34, D48: after a heartbeat that failed, or that a locked row was not seen by, the next one comes sooner", () =>
    inWorld(adapter, async ({ engine, open, clock, settled }) => {
      const hanging = gate();
      const slow = job(async () => {
        await hanging.opened;
        return { event: { type: "DONE", by: "me" } };
      });
      const handle = await open();
      const [begun, beats] = [clock.now(), [] as number[]];
      let asked = 0;
      const heartbeat: typeof handle.heartbeat = async (request) => {
        const nth = beats.push(clock.now() - begun);
        if (nth === 1) throw new Error("no connection");
        if (nth === 2) return { lost: [], unseen: request.tasks.map(({ id }) => id) };
        asked += 1;
        return handle.heartbeat(request).finally(() => (asked -= 1));
      };
      const holder = await engine({ workflows: [slow], storage: { ...handle, heartbeat } });
      holder.run();
      await holder.start(slow, { id: "j", input: { id: "j" } });
      for (let third = 0; third < LEASE; third += LEASE / 30) {
        clock.advance(LEASE / 30);
        await turns(10);
        await until(() => asked === 0);
        await turns(5);
      }
      const soon = LEASE / 10;
      expect(beats).toEqual([LEASE / 3, LEASE / 3 + soon, LEASE / 3 + 2 * soon, 2 * (LEASE / 3) + 2 * soon]);
      hanging.open();
      await settled();
    }));

  /** A process whose way to the storage can be cut; its handler of the nth run. */
  const cutOff = async (
    { engine, open, clock }: Pick<EngineWorld, "engine" | "open" | "clock">,
    run: (nth: number, signal: AbortSignal) => Promise<unknown>,
  ) => {
    const state = { isAway: false, runs: 0, crashes: [] as number[] };
    let asked = 0;
    const jobs = job(async (_params, { signal, crashes }) => {
      state.crashes.push(crashes);
      await run((state.runs += 1), signal);
      return { event: { type: "DONE", by: "me" } };
    });
    const handle = await open();
    const storage = new Proxy(handle, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function" || name === "onWake" || name === "close") return member;
        return async (...given: readonly unknown[]): Promise<unknown> => {
          if (state.isAway) throw new Error("no connection");
          asked += 1;
          return (member.apply(target, given) as Promise<unknown>).finally(() => (asked -= 1));
        };
      },
    });
    const holder = await engine({ workflows: [jobs], storage });
    holder.run();
    await holder.start(jobs, { id: "j", input: { id: "j" } });
    await until(() => state.runs === 1);
    const pass = async (ms: number): Promise<void> => {
      for (let at = 0; at < ms; at += LEASE / 60) {
        clock.advance(LEASE / 60);
        // Until all that is due has had its turn, and nothing is asked any more.
        for (let quiet = 0; quiet < 8; quiet = asked === 0 ? quiet + 1 : 0) await turns(1);
      }
    };
    return { state, holder, pass };
  };
  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")));
    });

  test("what could not be extended for a lease is aborted by its own process, and given back once the storage answers, as no crash", () =>
    inWorld(adapter, async (world) => {
      let isAborted = false;
      const { state, holder, pass } = await cutOff(world, async (nth, signal) => {
        if (nth > 1) return;
        await untilAborted(signal).finally(() => (isAborted = true));
      });
      state.isAway = true;
      await pass(LEASE - LEASE / 60);
      expect(isAborted).toBe(false);
      await pass(LEASE / 60);
      expect(isAborted).toBe(true);
      state.isAway = false;
      await pass(LEASE);
      await world.settled();
      expect(await holder.read("j")).toMatchObject({ value: "done" });
      expect(state.crashes).toEqual([0, 0]);
    }));

  test("what ends or fails in an outage is given back after it, however long it was, and no crash is counted", () =>
    inWorld(adapter, async (world) => {
      const gates = [gate(), gate(), gate(), gate()];
      const { state, pass } = await cutOff(world, async (nth) => {
        await gates[nth - 1]?.opened;
        if (nth === 2) throw new Error("declined");
      });
      for (const [nth, each] of gates.slice(0, 3).entries()) {
        state.isAway = true;
        await pass(1_000);
        each.open();
        await pass(2 * LEASE);
        state.isAway = false;
        await pass(2 * LEASE);
        expect(state.runs).toBe(nth + 2);
      }
      gates[3]?.open();
      await world.settled();
      expect(state.crashes).toEqual([0, 0, 0, 0]);
    }));

  test("an error whose text no database stores is a failure like any other", () =>
    inWorld(adapter, async ({ engine, clock, storage, settled }) => {
      let runs = 0;
      const odd = job(async () => {
        if ((runs += 1) === 1) throw new Error("\ud800 of a payee's name");
        return { event: { type: "DONE", by: "again" } };
      });
      const one = await engine({ workflows: [odd] });
      one.run();
      await one.start(odd, { id: "j", input: { id: "j" } });
      await settled();
      expect(await storage.tasks({ order: "instance", instance: "j", limit: 9 })).toMatchObject([
        { isHeld: false, failures: 1, crashes: 0 },
      ]);
      clock.advance(2_000);
      await settled();
      expect(await one.read("j")).toMatchObject({ value: "done" });
    }));

  test("a storage that answers no heartbeat at all: what is in hand is aborted as its lease ends", () =>
    inWorld(adapter, async ({ engine, open, clock, settled }) => {
      const hanging = gate();
      let isAborted = false;
      let runs = 0;
      const slow = job(async (_params, { signal }) => {
        if ((runs += 1) > 1) return { event: { type: "DONE", by: "again" } };
        return untilAborted(signal).finally(() => (isAborted = true));
      });
      const handle = await open();
      const heartbeat: typeof handle.heartbeat = async (request) => {
        await hanging.opened;
        return handle.heartbeat(request);
      };
      const holder = await engine({ workflows: [slow], storage: { ...handle, heartbeat } });
      holder.run();
      await holder.start(slow, { id: "j", input: { id: "j" } });
      await until(() => runs === 1);
      const pass = async (ms: number): Promise<void> => {
        for (let at = 0; at < ms; at += LEASE / 60) {
          clock.advance(LEASE / 60);
          await turns(10);
        }
      };
      await pass(LEASE - LEASE / 60);
      expect(isAborted).toBe(false);
      await pass(LEASE / 60);
      expect(isAborted).toBe(true);
      hanging.open();
      await settled();
      expect(await holder.read("j")).toMatchObject({ value: "done" });
    }));

  test("D73: a stranger's lock that outlasts the lease and is rolled back: the run ends by its own clock before another begins, and no crash is counted", () =>
    inWorld(adapter, async ({ engine, open, clock, settled }) => {
      let isLocked = true;
      const crashes: number[] = [];
      let atWork = 0;
      const slow = job(async (_params, { signal, crashes: told }) => {
        expect(atWork).toBe(0);
        crashes.push(told);
        if (crashes.length > 1) return { event: { type: "DONE", by: "again" } };
        atWork += 1;
        return untilAborted(signal).finally(() => (atWork -= 1));
      });
      const handle = await open();
      // What is locked is passed over by heartbeats, and by the claims of others.
      const heartbeat: typeof handle.heartbeat = async (request) =>
        isLocked ? { lost: [], unseen: request.tasks.map(({ id }) => id) } : handle.heartbeat(request);
      const claim: typeof handle.claim = async (request) =>
        isLocked && crashes.length > 0 ? [] : handle.claim(request);
      const locked = { ...handle, heartbeat, claim };
      const one = await engine({ workflows: [slow], storage: locked });
      const other = await engine({ workflows: [slow], storage: locked });
      one.run();
      await one.start(slow, { id: "j", input: { id: "j" } });
      await until(() => crashes.length === 1);
      other.run();
      const pass = async (ms: number): Promise<void> => {
        for (let at = 0; at < ms; at += LEASE / 60) {
          clock.advance(LEASE / 60);
          await turns(10);
        }
      };
      await pass(LEASE);
      expect(atWork).toBe(0);
      await pass(LEASE);
      expect(crashes).toEqual([0]);
      isLocked = false;
      clock.advance(LEASE);
      await settled();
      expect(crashes).toEqual([0, 0]);
      expect(await one.read("j")).toMatchObject({ value: "done" });
    }));

  test("a storage that answers no heartbeat at all: each run is aborted as its own lease ends", () =>
    inWorld(adapter, async ({ engine, open, clock, settled }) => {
      const aborted: string[] = [];
      const begun: string[] = [];
      const slow = job(async ({ id }, { signal }) => {
        if (begun.includes(id)) return { event: { type: "DONE", by: "again" } };
        begun.push(id);
        return untilAborted(signal).finally(() => aborted.push(id));
      });
      const handle = await open();
      const hanging = gate();
      const heartbeat: typeof handle.heartbeat = async (request) => {
        await hanging.opened;
        return handle.heartbeat(request);
      };
      // Its own claims would find out as well.
      const claim: typeof handle.claim = async (request) =>
        begun.length < 2 || aborted.length === 2 ? handle.claim(request) : [];
      const holder = await engine({ workflows: [slow], storage: { ...handle, heartbeat, claim } });
      holder.run();
      const pass = async (ms: number): Promise<void> => {
        for (let at = 0; at < ms; at += LEASE / 60) {
          clock.advance(LEASE / 60);
          await turns(10);
        }
      };
      await holder.start(slow, { id: "first", input: { id: "first" } });
      await until(() => begun.length === 1);
      await pass(LEASE / 10);
      await holder.start(slow, { id: "second", input: { id: "second" } });
      await until(() => begun.length === 2);
      await pass((LEASE * 9) / 10);
      expect(aborted).toEqual(["first"]);
      await pass(LEASE / 10 - LEASE / 60);
      expect(aborted).toEqual(["first"]);
      await pass(LEASE / 60);
      expect(aborted).toEqual(["first", "second"]);
      hanging.open();
      await settled();
      expect(await holder.read("second")).toMatchObject({ value: "done" });
    }));

  test("a stop gives back what an outage has aborted before, and that ends while the stop waits", () =>
    inWorld(adapter, async (world) => {
      const ending = gate();
      const { state, holder, pass } = await cutOff(world, async () => {
        await ending.opened;
        throw new Error("ended late");
      });
      state.isAway = true;
      await pass(2 * LEASE);
      state.isAway = false;
      await pass(LEASE);
      const stopped = holder.stop({ timeoutMs: 10_000 });
      await turns(20);
      ending.open();
      await stopped;
      expect(await world.storage.tasks({ order: "instance", instance: "j", limit: 9 })).toMatchObject([
        { isHeld: false, crashes: 0 },
      ]);
      world.awaitsOutside("j");
    }));

  test("an answer to a heartbeat that comes late says nothing of the next run of a task", () =>
    inWorld(adapter, async ({ engine, open, clock, settled }) => {
      const late = gate();
      const second = gate();
      const isAborted: boolean[] = [];
      const failing = gate();
      const slow = job(async (_params, { signal }) => {
        const nth = isAborted.push(false) - 1;
        signal.addEventListener("abort", () => (isAborted[nth] = true));
        if (nth > 0) await second.opened;
        else {
          await failing.opened;
          throw new Error("declined");
        }
        return { event: { type: "DONE", by: "me" } };
      });
      const handle = await open();
      let beats = 0;
      const heartbeat: typeof handle.heartbeat = async (request) => {
        if ((beats += 1) > 1) return handle.heartbeat(request);
        await late.opened;
        return handle.heartbeat(request);
      };
      const holder = await engine({ workflows: [slow], storage: { ...handle, heartbeat } });
      holder.run();
      await holder.start(slow, { id: "j", input: { id: "j" } });
      await until(() => isAborted.length === 1);
      clock.advance(LEASE / 3);
      await until(() => beats === 1);
      failing.open();
      await turns(20);
      clock.advance(2_000);
      await until(() => isAborted.length === 2);
      late.open();
      await turns(20);
      expect(isAborted[1]).toBe(false);
      second.open();
      await settled();
      expect(await holder.read("j")).toMatchObject({ value: "done" });
    }));

  test("a process that slept through its lease takes its own task again, once, and aborts the first run", () =>
    inWorld(adapter, async ({ engine, clock, settled, storage }) => {
      const first = gate();
      const second = gate();
      const aborted: boolean[] = [];
      const gates = [first, second];
      const slow = job(async (_params, { signal, crashes }) => {
        const index = aborted.push(false) - 1;
        signal.addEventListener("abort", () => (aborted[index] = true));
        await gates[crashes]?.opened;
        return { event: { type: "DONE", by: `run ${crashes}` } };
      });
      // Its hands move only when it looks: nothing is extended while it sleeps.
      const sleepless: Clock = {
        now: () => clock.now(),
        sleep: (ms, signal) => clock.sleep(ms === LEASE / 3 ? 10 * LEASE : ms, signal),
      };
      const sleeper = await engine({ workflows: [slow], clock: sleepless });
      sleeper.run();
      await sleeper.start(slow, { id: "j", input: { id: "j" } });
      clock.advance(LEASE);
      // A claim that was on its way found nothing, and is made again a moment later.
      await until(() => {
        clock.advance(1);
        return aborted.length === 2;
      });
      expect(aborted).toEqual([true, false]);
      first.open();
      await turns(20);
      expect(await storage.load("j")).toMatchObject({ version: 1 });
      // The second run is in hand still: whoever stops waits for it.
      const stopped = sleeper.stop();
      second.open();
      await stopped;
      await settled();
      expect((await storage.history("j", { after: 1, limit: 10 })).map(({ event }) => event)).toEqual([
        '{"type":"DONE","by":"run 1"}',
      ]);
    }));

  test("D45: a task that ends its holder is set aside behind five counted deaths, the first not counted, and others go on", () =>
    inWorld(adapter, async ({ engine, clock, open, storage, settled, awaitsOutside }) => {
      const seen: number[] = [];
      const never = gate<undefined>();
      const deadly = job(async ({ id }, { crashes }) => {
        if (id === "harmless") return { event: { type: "DONE", by: id } };
        seen.push(crashes);
        return never.opened;
      });
      for (let life = 0; life < 8; life++) {
        const mortal = virtualClock(clock.now());
        const process = await engine({ workflows: [deadly], storage: await open(), clock: mortal });
        process.run();
        if (life === 0) await process.start(deadly, { id: "poison", input: { id: "poison" } });
        // The seventh sets it aside; nothing is left for the eighth.
        if (life < 6) await until(() => seen.length > life);
        else await until(async () => (await storage.tasks({ order: "dead", limit: 1 })).length > 0);
        await turns(50);
        clock.advance(LEASE);
      }
      expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
      expect((await storage.tasks({ order: "dead", limit: 10 })).map(({ id }) => id)).toEqual([
        await taskIdAt(storage, "poison"),
      ]);
      const survivor = await engine({ workflows: [deadly] });
      survivor.run();
      await survivor.start(deadly, { id: "harmless", input: { id: "harmless" } });
      await survivor.settled();
      expect(await survivor.read("harmless")).toMatchObject({ value: "done" });
      never.open(undefined);
      await settled();
      awaitsOutside("poison");
    }));

  test.each(["claim", "load"] as const)(
    "D89, D93: frozen for a lease while its %s is answered, and its upkeep on its way, a process begins nothing that another has in hand by then",
    (call) =>
      inWorld(adapter, async ({ engine, clock, open, settled }) => {
        const frozen = virtualClock(clock.now());
        const [answered, thawed, hanging] = [gate(), gate(), gate()];
        const begun: string[] = [];
        const by = (name: string) =>
          job(async () => {
            begun.push(name);
            await hanging.opened;
            return { event: { type: "DONE", by: name } };
          });
        const freeze = async (): Promise<void> => {
          answered.open();
          await thawed.opened;
        };
        const handle = await open();
        let [isClaimed, isLeaseAnswered] = [false, false];
        const storage: typeof handle = {
          ...handle,
          async claim(request) {
            const tasks = await handle.claim(request);
            if (tasks.length > 0 && call === "claim") await freeze();
            isClaimed ||= tasks.length > 0;
            return tasks;
          },
          // On its way while the process is frozen.
          async lease(request) {
            await thawed.opened;
            const leases = await handle.lease(request);
            isLeaseAnswered = true;
            return leases;
          },
          // Asked for behind the claim, before the handler is called.
          async load(id) {
            const found = await handle.load(id);
            if (isClaimed && call === "load") await freeze();
            return found;
          },
        };
        const jobs = by("frozen");
        await (await engine({ workflows: [jobs] })).start(jobs, { id: "j", input: { id: "j" } });
        const first = await engine({ workflows: [jobs], storage, clock: frozen });
        first.run();
        await answered.opened;
        clock.advance(LEASE);
        const second = await engine({ workflows: [by("other")] });
        second.run();
        await until(() => begun.length > 0);
        thawed.open();
        frozen.set(clock.now());
        await until(() => isLeaseAnswered);
        // The other's claim is asked for again once it is told, or after its rest.
        clock.advance(1_000);
        frozen.set(clock.now());
        await turns(20);
        expect([...begun]).toEqual(["other"]);
        hanging.open();
        await settled();
        expect(await second.read("j")).toMatchObject({ value: "done" });
        expect(begun).toEqual(["other"]);
      }),
  );
});
