/** Exact decimals as integers of 10^-24, so that a sum of money never passes through a float. */

const places = 24;
const decimal = /^(\d{1,12})(?:\.(\d{1,24}))?$/;

/** `0.15` as a number of 10^-24; `null` for anything that is not a plain decimal of at most 12 + 24 digits. */
export function toUnits(text: string): bigint | null {
  const [, whole, fraction = ''] = decimal.exec(text) ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(places, '0'));
}

/** A float of a price list as the decimal its author wrote: the shortest text that reads back as this float. */
export function floatToUnits(value: number): bigint | null {
  const [digits = '', exponent] = String(value).split('e-');
  if (exponent === undefined) return toUnits(digits);
  const units = toUnits(digits);
  const shift = 10n ** BigInt(exponent);
  // A price with more than 24 places does not exist.
  return units === null || units % shift !== 0n ? null : units / shift;
}

/** `units / divisor` as a decimal text, rounded half up to `to` places, without trailing zeros. */
export function toDecimal(units: bigint, divisor: bigint, to: number): string {
  const step = divisor * 10n ** BigInt(places - to);
  return written((units * 2n + step) / (step * 2n), to);
}

/** As `toDecimal`, but rounded up. */
export function ceilDecimal(units: bigint, divisor: bigint, to: number): string {
  const step = divisor * 10n ** BigInt(places - to);
  return written((units + step - 1n) / step, to);
}

function written(rounded: bigint, to: number): string {
  const scale = 10n ** BigInt(to);
  const fraction = (rounded % scale).toString().padStart(to, '0').replace(/0+$/, '');
  return `${rounded / scale}${fraction && `.${fraction}`}`;
}

/** By how much a decimal text is larger than another; `0` if it is not. */
export function excess(amount: string, limit: string): string {
  const [left, right] = [toUnits(amount), toUnits(limit)];
  if (left === null || right === null) throw new Error('not a decimal');
  return left > right ? toDecimal(left - right, 1n, places) : '0';
}

/** A decimal text times a whole number, as `toDecimal` writes it. */
export function multiplyDecimal(text: string, factor: number): string {
  const units = toUnits(text);
  if (units === null) throw new Error('not a decimal');
  return toDecimal(units * BigInt(factor), 1n, places);
}

/** The sum of two decimal texts, as `toDecimal` writes it. */
export function addDecimals(a: string, b: string): string {
  // The usual case: nothing was spent before the first attempt.
  if (a === '0') return b;
  const [left, right] = [toUnits(a), toUnits(b)];
  if (left === null || right === null) throw new Error('not a decimal');
  return toDecimal(left + right, 1n, places);
}
