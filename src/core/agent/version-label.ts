/**
 * The default label of a version: `v{number}`. If an earlier version already has that label, the first free one of
 * `v{number}-2`, `v{number}-3`, … .
 */
export function defaultLabel(number: number, existing: ReadonlySet<string>): string {
  const plain = `v${number}`;
  let label = plain;
  for (let suffix = 2; existing.has(label); suffix++) label = `${plain}-${suffix}`;
  return label;
}
