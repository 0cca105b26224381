/** Who holds a task: dead holders are succeeded, late ones are not heard, and poison is set aside. */
import { describe, expect, test } from "vitest";
import type { Clock } from "paystate/engine";
import { adapters } from "../kit/adapters.ts";
import { gate, inWorld, turns, until } from "../kit/engine-world.ts";
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

  test("R34: after a heartbeat that failed the next one comes sooner", () =>
    inWorld(adapter, async ({ engine, open, clock, settled }) => {
      const hanging = gate();
      const slow = job(async () => {
        await hanging.opened;
        return { event: { type: "DONE", by: "me" } };
      });
      const handle = await open();
      const [begun, beats] = [clock.now(), [] as number[]];
      const heartbeat: typeof handle.heartbeat = async (request) => {
        if (beats.push(clock.now() - begun) === 1) throw new Error("no connection");
        return handle.heartbeat(request);
      };
      const holder = await engine({ workflows: [slow], storage: { ...handle, heartbeat } });
      holder.run();
      await holder.start(slow, { id: "j", input: { id: "j" } });
      for (let third = 0; third < LEASE; third += LEASE / 30) {
        clock.advance(LEASE / 30);
        await turns(10);
      }
      expect(beats).toEqual([LEASE / 3, LEASE / 3 + LEASE / 10, 2 * (LEASE / 3) + LEASE / 10]);
      hanging.open();
      await settled();
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

  test("a task that crashes its holder five times is set aside as a dead letter, and others go on", () =>
    inWorld(adapter, async ({ engine, clock, open, storage, settled, awaitsOutside }) => {
      const seen: number[] = [];
      const never = gate<undefined>();
      const deadly = job(async ({ id }, { crashes }) => {
        if (id === "harmless") return { event: { type: "DONE", by: id } };
        seen.push(crashes);
        return never.opened;
      });
      for (let life = 0; life < 7; life++) {
        const mortal = virtualClock(clock.now());
        const process = await engine({ workflows: [deadly], storage: await open(), clock: mortal });
        process.run();
        if (life === 0) await process.start(deadly, { id: "poison", input: { id: "poison" } });
        // The sixth sets it aside; nothing is left for the seventh.
        if (life < 5) await until(() => seen.length > life);
        else await until(async () => (await storage.tasks({ order: "dead", limit: 1 })).length > 0);
        await turns(50);
        clock.advance(LEASE);
      }
      expect(seen).toEqual([0, 1, 2, 3, 4]);
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
});
