/** Lets every promise that can go on go on: an immediate runs when no microtask is left. */
export const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Real time, for what the world does not control: a server that works, an effect's own I/O. */
export async function after(ms: number): Promise<undefined> {
  await new Promise((resolve) => void setTimeout(resolve, ms));
  return undefined;
}
