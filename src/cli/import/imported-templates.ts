import { placeholderWarnings } from '../../core/agent/prompt.ts';
import type { Draft } from './draft.ts';
import type { Located } from './located.ts';

/** Templates of other systems. Cueline's only syntax is `{{name}}`. */

/** Says which of `{{…}}` are no placeholders in Cueline. */
export function checkPlaceholders(draft: Draft, at: Located, template: string): void {
  for (const { placeholder } of placeholderWarnings({ system: null, user: template })) {
    draft.remark(
      at,
      `${placeholder} is no placeholder here: it is sent to the model unchanged.`,
      placeholder,
    );
  }
}

const comment = /\{#.*?#\}/gs;
const control = /\{%-?\s*(\w+)?.*?%\}/gs;
const output = /\{\{-?\s*(.*?)\s*-?\}\}/gs;
const filtered = /^([A-Za-z_]\w*)\s*\|\s*(.+)$/s;
const word = /^[A-Za-z_]\w*$/;

/**
 * A template of Nunjucks: comments are dropped, and variables lose what trims blanks and their filters. Control structures
 * and expressions stay as they are.
 */
export function fromNunjucks(draft: Draft, at: Located, template: string): string {
  const text = template.replaceAll(comment, '');
  for (const [whole, keyword = ''] of text.matchAll(control)) {
    if (keyword.startsWith('end') || keyword.startsWith('el')) continue;
    draft.remark(
      at,
      `The control structure ${short(whole)} is not carried over: it is sent to the model as text.`,
      whole,
    );
  }
  return text.replaceAll(output, (whole, expression: string) => {
    if (word.test(expression)) {
      return whole.startsWith('{{-') || whole.endsWith('-}}') ? `{{${expression}}}` : whole;
    }
    const [, name, filter] = filtered.exec(expression) ?? [];
    if (name === undefined) {
      draft.remark(
        at,
        `The expression ${short(whole)} is not carried over: it is sent to the model as text.`,
        whole,
      );
      return whole;
    }
    draft.remark(
      at,
      `The filter "${short(filter ?? '')}" of ${name} is not carried over: the value is inserted as it is.`,
      whole,
    );
    return `{{${name}}}`;
  });
}

/** Longer parts of a template are cut in remarks. */
const shownCharsMax = 60;

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > shownCharsMax ? `${line.slice(0, shownCharsMax - 1)}…` : line;
}
