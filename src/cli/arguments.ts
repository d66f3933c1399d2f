import { type Command, InvalidArgumentError } from 'commander';

/** Parsers of command line arguments. The contract validates the values. */

/** A command that only contains subcommands. */
export function group(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).helpCommand(false);
}

/** Comma-separated values of a repeatable option. */
export function collectList(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(',').map((one) => one.trim())];
}

/** A repeatable option. */
export function collectText(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** `name=value` of a repeatable option. */
export function collectPair(
  text: string,
  before: readonly [string, string][] = [],
): [string, string][] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

/** An amount of US dollars above 0. */
export function dollars(text: string): number {
  if (!(/^\d{1,7}(\.\d{1,12})?$/.test(text) && Number(text) > 0)) {
    throw new InvalidArgumentError('Expected an amount of US dollars, such as 0.05.');
  }
  return Number(text);
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.');
  return Number(text);
}

export function collectNumber(text: string, before: readonly number[] = []): number[] {
  return [...before, wholeNumber(text)];
}

/** A longer timer in Node.js fires immediately. */
const secondsMax = 1_000_000;

export function seconds(text: string): number {
  const number = wholeNumber(text);
  if (number > secondsMax) throw new InvalidArgumentError(`Expected at most ${secondsMax}.`);
  return number;
}

/** `none` instead of null: commander treats null as an option without a value. */
export type NumberOrNone = number | 'none';

export function numberOrNone(text: string): NumberOrNone {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) {
    throw new InvalidArgumentError('Expected a whole number, or "none" for no limit.');
  }
  return Number(text);
}

/** An identifier used in a path. The server checks whether it exists. */
export function identifier(text: string): string {
  if (['', '.', '..'].includes(text)) throw new InvalidArgumentError('Expected an identifier.');
  return text;
}

export function noneToNull(limit: NumberOrNone): number | null {
  return limit === 'none' ? null : limit;
}
