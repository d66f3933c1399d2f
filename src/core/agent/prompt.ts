import { invalidRequest } from '../failure.ts';
import type { ResponseFormat } from './response-format.ts';

/** Placeholders and their substitution: `{{name}}` with optional inner blanks, one pass; nothing else is syntax. */

const placeholder = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

/** Limits: characters of a variable's name; placeholders of a version and variables of an agent. */
export const variableNameMax = 100;
export const variablesMax = 200;
/** A valid variable name. */
export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface VersionTemplate extends Template {
  /** Null or absent for text. */
  readonly responseFormat?: ResponseFormat | null;
}

export interface Template {
  readonly system: string | null;
  readonly user: string;
}

/** The names of all placeholders, each once, in order of first use. */
export function placeholders(template: Template): string[] {
  const names = new Set<string>();
  for (const text of [template.system ?? '', template.user]) {
    for (const match of text.matchAll(placeholder)) names.add(match[1] ?? '');
  }
  return [...names];
}

/** A text that looks like a placeholder but is not valid: it goes to the model unchanged. */
export interface PlaceholderWarning {
  /** With its braces. */
  readonly placeholder: string;
  readonly template: 'system' | 'user';
}

/** Characters between braces that may be meant as a placeholder; warnings of a version. */
const meantAsPlaceholder = /\{\{[^{}]{0,200}\}\}/g;
const warningsMax = 100;

/** The invalid placeholders of each template, each once, in order. */
export function placeholderWarnings({ system, user }: Template): PlaceholderWarning[] {
  const invalid = (text: string) => {
    const found = text.match(meantAsPlaceholder) ?? [];
    return [...new Set(found)].filter((one) => one.replace(placeholder, '') !== '');
  };
  return [
    ...invalid(system ?? '').map((one) => ({ placeholder: one, template: 'system' as const })),
    ...invalid(user).map((one) => ({ placeholder: one, template: 'user' as const })),
  ].slice(0, warningsMax);
}

/** As `placeholders`; throws if there are more than an agent can declare. */
export function declarablePlaceholders(template: Template): string[] {
  const names = placeholders(template);
  if (names.length > variablesMax) {
    const message = `The templates have ${names.length} placeholders; at most ${variablesMax} are allowed.`;
    throw invalidRequest(message);
  }
  const long = names.find((name) => name.length > variableNameMax);
  if (long === undefined) return names;
  const message = `The placeholder "${long.slice(0, variableNameMax)}…" is longer than ${variableNameMax} characters.`;
  throw invalidRequest(message);
}

/**
 * Replaces every placeholder by its text or the empty string, in one pass: a value that contains `{{x}}` stays
 * unchanged. Null if both texts together would exceed `charsMax`: a short template can repeat a long value.
 */
export function render(
  template: Template,
  texts: ReadonlyMap<string, string>,
  charsMax: number,
): Template | null {
  let chars = (template.system?.length ?? 0) + template.user.length;
  for (const text of [template.system ?? '', template.user]) {
    for (const [whole, name] of text.matchAll(placeholder)) {
      chars += (texts.get(name ?? '')?.length ?? 0) - whole.length;
    }
  }
  if (chars > charsMax) return null;
  const fill = (text: string) =>
    text.replace(placeholder, (_, name: string) => texts.get(name) ?? '');
  return {
    system: template.system === null ? null : fill(template.system),
    user: fill(template.user),
  };
}

/** The placeholders that are in no variable list and have no default. */
export function undeclared(
  names: readonly string[],
  agent: {
    readonly requiredVariables: readonly string[];
    readonly optionalVariables: readonly string[];
    readonly defaultVariableValues: Readonly<Record<string, unknown>>;
  },
): string[] {
  const declared = new Set([
    ...agent.requiredVariables,
    ...agent.optionalVariables,
    ...Object.keys(agent.defaultVariableValues),
  ]);
  return names.filter((name) => !declared.has(name));
}
