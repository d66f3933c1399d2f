/** Placeholders of a template, as the server parses them: `{{name}}`, with optional blanks inside. */

export const placeholderPattern = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

export interface Template {
  readonly system: string | null;
  readonly user: string;
}

export interface Variable {
  readonly name: string;
  readonly occurrences: readonly VariableOccurrence[];
}

export interface VariableOccurrence {
  readonly template: 'system' | 'user';
  readonly line: number;
  /** Characters before the placeholder. */
  readonly offset: number;
}

/** Texts that look like placeholders but are not, as in a version's `warnings`: they are sent to the model unchanged. */
export function invalidPlaceholders({ system, user }: Template): string[] {
  const all = [system ?? '', user].flatMap((text) => text.match(/\{\{[^{}]{0,200}\}\}/g) ?? []);
  return [...new Set(all)].filter((one) => one.replace(placeholderPattern, '') !== '');
}

/** Each variable once, in order of first use, with all occurrences. */
export function variablesOf({ system, user }: Template): Variable[] {
  const found = new Map<string, VariableOccurrence[]>();
  for (const [template, text] of [['system', system ?? ''] as const, ['user', user] as const]) {
    for (const { 1: name = '', index: offset } of text.matchAll(placeholderPattern)) {
      const line = text.slice(0, offset).split('\n').length;
      found.set(name, [...(found.get(name) ?? []), { template, line, offset }]);
    }
  }
  return [...found].map(([name, occurrences]) => ({ name, occurrences }));
}
