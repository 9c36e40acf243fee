/** The name that was probably meant: the same but for case, or a few letters away; `undefined` if none is near. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const far = Math.min(4, given.length / 2);
  let best: string | undefined;
  let least = far;
  for (const name of names) {
    if (Math.abs(name.length - given.length) >= far) continue;
    const apart = distance(given.toLowerCase(), name.toLowerCase());
    if (apart < least) [best, least] = [name, apart];
  }
  return best;
}

/** How many letters must be put in, taken out or changed to make one text of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let index = 0; index < from.length; index += 1) {
    let diagonal = index;
    row = row.map((above, at) => {
      if (at === 0) return index + 1;
      const changed = Math.min(diagonal + (to[at - 1] === from[index] ? 0 : 1), above + 1);
      diagonal = above;
      return changed;
    });
    for (let at = 1; at < row.length; at += 1) row[at] = Math.min(row[at] ?? 0, (row[at - 1] ?? 0) + 1);
  }
  return row[to.length] ?? 0;
}
