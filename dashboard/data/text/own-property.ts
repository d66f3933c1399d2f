/** What an object itself has under a name that people chose: every object answers to `constructor`. */
export function own<Value>(
  object: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
