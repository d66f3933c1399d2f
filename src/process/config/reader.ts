import { readFileSync } from 'node:fs';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Form } from './forms.ts';

/** Lists every invalid variable with what is allowed instead. Contains no secret. */
export class ConfigError extends StartupFailure {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['Invalid configuration:', ...problems.map((line) => `  ${line}`)].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads variables one by one and collects their problems. */
export interface Reader {
  text(name: string, form?: Form): string | null;
  number(name: string, otherwise: number, min: number, max: number): number;
  choice<T extends string>(name: string, choices: readonly T[], otherwise: T): T;
  list(name: string, form: Form): string[];
  /** All variables of a group, or `null` if none is set; a partial group is a problem. */
  group<N extends string>(
    prefix: string,
    names: Record<N, [string, Form]>,
  ): Record<N, string> | null;
  /** Reports a problem if the variable is not set; `why` completes the sentence. */
  require(name: string, why: string): void;
  refuseIfWrong(): void;
  unknown(): string[];
}

export function reader(env: NodeJS.ProcessEnv): Reader {
  const problems: string[] = [];
  const known = new Set<string>();

  function get(name: string, form?: Form): string | null {
    known.add(name);
    const given = env[name]?.trim() || null;
    const path = form?.fromFile ? get(`${name}_FILE`) : null;
    if (path === null) return given;
    const { text = null, problem } = given
      ? { problem: `is set together with ${name}` }
      : readSecretFile(path);
    if (problem) problems.push(`${name}_FILE (${path}) ${problem}.`);
    return text;
  }

  function wrong(name: string, given: string, form: Omit<Form, 'accepts'>): void {
    problems.push(problemOf(name, given, form));
  }

  function text(name: string, form?: Form): string | null {
    const given = get(name, form);
    if (given === null || !form) return given;
    if (form.accepts(given)) return form.normal?.(given) ?? given;
    wrong(name, given, form);
    return null;
  }

  return {
    text,
    number(name, otherwise, min, max) {
      const given = get(name);
      const value = Number(given ?? otherwise);
      const allowed = `a whole number from ${min} to ${max}`;
      if (given !== null && !(/^\d{1,10}$/.test(given) && value >= min && value <= max)) {
        wrong(name, given, { allowed });
      }
      return value;
    },
    choice(name, choices, otherwise) {
      const given = get(name);
      const found = choices.find((choice) => choice === given);
      if (given !== null && !found) wrong(name, given, { allowed: choices.join(' or ') });
      return found ?? otherwise;
    },
    list(name, form) {
      const entries = (get(name) ?? '').split(',').map((entry) => entry.trim());
      const given = entries.filter((entry) => entry !== '');
      const bad = given.filter((entry) => !form.accepts(entry));
      if (bad.length > 0) wrong(name, bad.join(','), form);
      return given;
    },
    group(prefix, names) {
      const entries = Object.entries<[string, Form]>(names).map(([key, [suffix, form]]) => {
        const name = prefix + suffix;
        return { key, name, set: isSet(env, name), value: text(name, form) };
      });
      const missing = entries.filter(({ set }) => !set).map(({ name }) => name);
      if (missing.length === entries.length) return null;
      if (missing.length > 0) {
        const names = missing.join(' and ');
        problems.push(
          `${names} ${missing.length > 1 ? 'are' : 'is'} missing; expected all of ${prefix}… or none.`,
        );
      }
      return Object.fromEntries(entries.map(({ key, value }) => [key, value ?? ''])) as never;
    },
    require(name, why) {
      if (!isSet(env, name)) problems.push(`${name} is missing: ${why}.`);
    },
    refuseIfWrong() {
      if (problems.length > 0) throw new ConfigError(problems);
    },
    unknown: () =>
      Object.entries(env)
        .filter(([name, value]) => name.startsWith('CUELINE_') && value?.trim() && !known.has(name))
        .map(([name]) => `${name} is set, but Cueline knows no such variable.`),
  };
}

function isSet(env: NodeJS.ProcessEnv, name: string): boolean {
  return [name, `${name}_FILE`].some((one) => env[one]?.trim());
}

function problemOf(
  name: string,
  given: string,
  { allowed, secret }: Omit<Form, 'accepts'>,
): string {
  const hidden = secret || /\/\/[^/]*@/.test(given);
  const shown = hidden ? 'is not valid' : `is ${JSON.stringify(given.slice(0, 100))}`;
  return `${name} ${shown}; expected ${allowed}.`;
}

/** A file that cannot be read does not count as absent: the process would start with something else. */
function readSecretFile(path: string): { text?: string; problem?: string } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).trim();
    return text === '' ? { problem: 'is empty' } : { text };
  } catch (error) {
    return { problem: `cannot be read as UTF-8 text (${(error as NodeJS.ErrnoException).code})` };
  }
}
