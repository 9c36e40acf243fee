/** All members of an object, those of its class too, with methods that keep their `this`: what can be spread. */
export function membersOf<T extends object>(object: T): T {
  const members: Record<PropertyKey, unknown> = {};
  for (
    let from: object | null = object;
    from !== null && from !== Object.prototype;
    from = Reflect.getPrototypeOf(from)
  ) {
    for (const name of Reflect.ownKeys(from)) {
      if (name in members) continue;
      const member: unknown = Reflect.get(object, name);
      members[name] = typeof member === 'function' ? member.bind(object) : member;
    }
  }
  return members as T;
}
