/**
 * Whether a parsed JSON value contains an erased value anywhere: within a text, or as another value in the form that a prompt
 * shows. It errs on the side of a match, because a person decides.
 */
export function containsValue(json: unknown, value: string): boolean {
  if (typeof json === 'string') return value === '' ? json === '' : json.includes(value);
  if (json === null) return false;
  if (typeof json !== 'object') return String(json) === value;
  // Only a value that is JSON itself can equal an object or a list.
  if (/^[[{]/.test(value) && JSON.stringify(json) === value) return true;
  return Object.values(json).some((one) => containsValue(one, value));
}
