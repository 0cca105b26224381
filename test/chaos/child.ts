/** A program of the tests in a process of its own, which says that it is ready with one message. */
import { type ChildProcess, spawn } from "node:child_process";
import { program } from "../programs/programs.ts";

const KEPT_CHARACTERS = 20_000;

/** A process from its start to its end. */
export class Child<Ready> {
  readonly process: ChildProcess;
  /** Resolves with what it says first; null when it ends before. */
  readonly ready: Promise<Ready | null>;
  readonly exited: Promise<void>;
  /** What it wrote to stderr lately. */
  complaints = "";
  /** Whether it has said that it is ready. */
  isReady = false;

  constructor(name: Parameters<typeof program>[0], settings: object) {
    const args = [...program(name), JSON.stringify(settings)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.process = child;
    child.stderr?.on("data", (chunk: Buffer) => {
      this.complaints = `${this.complaints}${chunk.toString()}`.slice(-KEPT_CHARACTERS);
    });
    this.exited = new Promise((resolve) => child.once("exit", () => resolve()));
    this.ready = new Promise((resolve) => {
      child.once("message", (said) => {
        this.isReady = true;
        resolve(said as Ready);
      });
      child.once("exit", () => resolve(null));
    });
  }

  /** SIGKILL, also where it is frozen. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.exited;
  }
}
