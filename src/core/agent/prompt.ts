import { CallFailure } from '../failure.ts';

/**
 * Placeholders and their substitution: `{{name}}`, inner blanks allowed, one pass, nothing else is syntax.
 */

const placeholder = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

/** Characters that a variable's name may have, and how many of them a version may name or an agent declare. */
export const variableNameMax = 100;
export const variablesMax = 200;
/** What a variable may be called. */
export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface Template {
  readonly system: string | null;
  readonly user: string;
}

/** The names of all placeholders of the texts, each once, in order of first use. */
export function placeholders(template: Template): string[] {
  const names = new Set<string>();
  for (const text of [template.system ?? '', template.user]) {
    for (const match of text.matchAll(placeholder)) names.add(match[1] ?? '');
  }
  return [...names];
}

/** The same, refused where no agent could declare them all: such a version could never be run. */
export function declarablePlaceholders(template: Template): string[] {
  const names = placeholders(template);
  if (names.length > variablesMax) {
    const message = `The templates have ${names.length} placeholders; at most ${variablesMax} are allowed.`;
    throw new CallFailure('INVALID_REQUEST', message);
  }
  const long = names.find((name) => name.length > variableNameMax);
  if (long === undefined) return names;
  const message = `The placeholder "${long.slice(0, variableNameMax)}…" is longer than ${variableNameMax} characters.`;
  throw new CallFailure('INVALID_REQUEST', message);
}

/**
 * The template with every placeholder replaced by its text, else by nothing. One pass: a value that itself
 * holds `{{x}}` stays as it is. Null where the texts together would have more than `charsMax` characters: a short
 * template can name a long value many times.
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

/** The declaration that a template needs: which of its placeholders no list and no default names. */
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
