/**
 * What a version is called that is given no label: `v{number}`. An earlier one may have been given that very label, which
 * must not keep everyone from adding one more: then `v{number}-2`, or the first after it that is free.
 */
export function defaultLabel(number: number, taken: ReadonlySet<string>): string {
  const plain = `v${number}`;
  let label = plain;
  for (let place = 2; taken.has(label); place++) label = `${plain}-${place}`;
  return label;
}
