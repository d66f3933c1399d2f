/** The placeholders of a template, as the server reads them: `{{name}}`, inner blanks allowed. */

export const placeholderPattern = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

export interface Template {
  readonly system: string | null;
  readonly user: string;
}

export interface Variable {
  readonly name: string;
  readonly places: readonly VariablePlace[];
}

/** Where a variable stands. */
export interface VariablePlace {
  readonly template: 'system' | 'user';
  readonly line: number;
  /** Characters before it. */
  readonly offset: number;
}

/** Each variable once, in order of first use, with all of its places. */
export function variablesOf({ system, user }: Template): Variable[] {
  const found = new Map<string, VariablePlace[]>();
  for (const [template, text] of [['system', system ?? ''] as const, ['user', user] as const]) {
    for (const { 1: name = '', index: offset } of text.matchAll(placeholderPattern)) {
      const line = text.slice(0, offset).split('\n').length;
      found.set(name, [...(found.get(name) ?? []), { template, line, offset }]);
    }
  }
  return [...found].map(([name, places]) => ({ name, places }));
}
