const lines = new WeakMap<object, (token: string) => string>();

/** Says how a schedule of this scenario is run again, where that is not by `replay`. */
export const runAgainBy = (scenario: object, line: (token: string) => string): void => void lines.set(scenario, line);

/** The line that runs a schedule again, to be pasted as it stands. */
export const againLine = (scenario: object, token: string): string =>
  lines.get(scenario)?.(token) ?? `await replay(store, scenario, '${token}')`;
