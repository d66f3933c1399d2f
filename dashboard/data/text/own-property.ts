/** The object's own property for a user-chosen name: every object also inherits names such as `constructor`. */
export function ownProperty<Value>(
  object: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
