import { optionError } from '../failure.ts';
import { isObject } from '../is-object.ts';

/**
 * Options that are passed on unchanged, `providerOptions` of agents and versions and `bodyExtra` of providers, may make the bound of
 * a call false. Their names tell.
 */

interface Option {
  /** Its place, with dots. */
  readonly path: string;
  /** In lower case, without dashes. */
  readonly name: string;
  readonly value: unknown;
}

/**
 * The path of the first option that sets a limit of the output or a number of answers, or lets the provider add to the prompt what
 * Cueline does not see; null if there is none.
 */
export function findUnboundedOption(options: unknown): string | null {
  return optionsIn(options).find(({ name }) => unbounded.has(name))?.path ?? null;
}

export function unboundedMessage(option: string): string {
  return `${optionError}${option}", no limit of cost can hold: it has an output limit of its own, answers more than once, or adds to the prompt. Remove it, or the limit of cost.`;
}

/** The path of the first option that selects a rate that price lists do not have; null if there is none. */
export function findDearerOption(options: unknown): string | null {
  const isDearer = ({ name, value }: Option) =>
    dearer.get(name)?.includes(String(value).toLowerCase()) ?? false;
  return optionsIn(options).find(isDearer)?.path ?? null;
}

/** Whether an option asks for a cache that lives for an hour, which costs more to write. */
export function hasHourCache(options: unknown): boolean {
  return optionsIn(options).some(({ name, value }) => name === 'ttl' && value !== '5m');
}

function optionsIn(value: unknown, path = ''): Option[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => optionsIn(each, `${path}${at}.`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    { path: `${path}${key}`, name: key.toLowerCase().replace(/[_-]/g, ''), value: each },
    ...optionsIn(each, `${path}${key}.`),
  ]);
}

const unbounded: ReadonlySet<string> = new Set([
  // Limits of the output. The budget of Anthropic's thinking is added to it.
  ...['maxtokens', 'maxoutputtokens', 'maxcompletiontokens', 'maxnewtokens', 'maxgenlen'],
  ...['maxtokenstosample', 'maxlength', 'numpredict', 'budgettokens'],
  // Answers that are all charged.
  ...['n', 'bestof', 'candidatecount'],
  // A prompt that the provider keeps or writes, and tools that it runs itself.
  ...['previousresponseid', 'conversation', 'prompt', 'cachedcontent', 'container', 'mcpservers'],
  ...['tools', 'plugins', 'websearchoptions', 'searchparameters', 'websearch', 'fallbacks'],
]);

const dearer: ReadonlyMap<string, readonly string[]> = new Map([
  ['servicetier', ['priority', 'fast', 'ultrafast', 'scale', 'reserved', 'provisioned']],
  ['speed', ['fast']],
  ['inferencegeo', ['us']],
]);
