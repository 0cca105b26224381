/** The end of a command that may have opened a service. */

/** A service of the host's own may keep the process alive; what was printed has to be out before it ends. */
export async function end(code: number): Promise<void> {
  await new Promise((resolve) => {
    process.stdout.write("", resolve);
  });
  process.exit(code);
}
