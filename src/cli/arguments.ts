import { type Command, InvalidArgumentError } from 'commander';

/** How the words of a command line are read. What they may say beyond that, the contract decides. */

/** A command that is only the name of others. */
export function group(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).helpCommand(false);
}

/** Of an option that may stand several times, each with commas. */
export function listed(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(',').map((one) => one.trim())];
}

/** `name=value`, of an option that may stand several times. */
export function pair(text: string, before: readonly [string, string][] = []): [string, string][] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.');
  return Number(text);
}

/** A timer of Node's that is set for longer goes off at once. */
const secondsMax = 1_000_000;

export function seconds(text: string): number {
  const number = wholeNumber(text);
  if (number > secondsMax) throw new InvalidArgumentError(`Expected at most ${secondsMax}.`);
  return number;
}

/** Not null, which commander takes for an option without a value. */
export type Bound = number | 'none';

export function bound(text: string): Bound {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) {
    throw new InvalidArgumentError('Expected a whole number, or "none" for no limit.');
  }
  return Number(text);
}

/** An identifier that goes into a path. Whether there is such a thing the server says. */
export function identifier(text: string): string {
  if (['', '.', '..'].includes(text)) throw new InvalidArgumentError('Expected an identifier.');
  return text;
}

export function orNull(limit: Bound): number | null {
  return limit === 'none' ? null : limit;
}
