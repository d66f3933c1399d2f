/** A workspace's price of a model: US dollars per million tokens as decimal texts, which are never rounded. */
export interface Price {
  /** Of this price with these amounts; absent before it is stored. */
  readonly id?: number;
  readonly inputPerMillion: string;
  readonly outputPerMillion: string;
  /** Null: cached tokens cost as much as other input. */
  readonly cacheReadPerMillion: string | null;
  readonly cacheWritePerMillion: string | null;
}

/** What a record was charged with. */
export interface ChargedPrice extends Omit<Price, 'id'> {
  /** As JSON has it. */
  readonly validFrom: string;
}

/** The price of a model in the built-in table. */
export interface ListedPrice extends Omit<Price, 'id'> {
  readonly model: string;
}

const decimal = /^\d{1,7}(\.\d{1,12})?$/;
const places = 12;

/**
 * The decimal text of an amount of at most `max` with at most 12 places; null for anything else. Never rounded: a
 * number is read as the decimal that its author wrote.
 */
export function priceText(amount: string | number, max: number): string | null {
  const text = typeof amount === 'string' ? amount : plain(amount);
  if (!decimal.test(text)) return null;
  const [whole = '', fraction = ''] = text.split('.');
  const units = BigInt(whole + fraction.padEnd(places, '0'));
  return units <= BigInt(max) * 10n ** BigInt(places) ? text : null;
}

/** A float as the shortest decimal that reads back as it, without an exponent: `1e-7` becomes `0.0000001`. */
function plain(amount: number): string {
  const [digits = '', exponent] = String(amount).split('e-');
  if (exponent === undefined) return digits;
  return `0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`;
}
