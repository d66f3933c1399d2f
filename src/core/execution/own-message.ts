import { executeFields } from '../agent/variables.ts';
import { permissions } from '../people/key.ts';
import type { Refusal } from './check-call.ts';

/**
 * The message without anything that the caller sent. Of what is in quotes, only names that the agent declares or the API has
 * remain; what else is quoted may be a field, a variable or a type of the caller.
 */
export function ownMessage(
  { code, message, fields }: Pick<Refusal, 'code' | 'message' | 'fields'>,
  declared: readonly string[] = [],
): string {
  const { variable, parameter, parameterCode } = fields;
  if (code === 'INVALID_VARIABLES') {
    const named = declared.find((name) => name === variable);
    return `The value of ${named === undefined ? 'a variable' : `variable "${named}"`} is not valid.`;
  }
  if (parameterCode === 'unknown_parameter') return 'Unknown parameter.';
  if (typeof parameter === 'string') {
    // What follows may be a name in the caller's schema or variables.
    const [root] = parameter.split(/[.[]/);
    return `The parameter "${root}" is not valid or not supported.`;
  }
  const known = new Set<string>([...declared, ...executeFields, ...permissions, 'maxTokens']);
  const text = message
    .replace(numberPattern, 'The number …')
    .replace(quotedPattern, (quoted) => (known.has(quoted.slice(1, -1)) ? quoted : '"…"'));
  return text.slice(0, ownMessageMax).toWellFormed();
}

/** A number that JSON cannot keep (`unstorableJson`). */
const numberPattern = /^The number \S+/;
const quotedPattern = /"(?:[^"\\]|\\.)*"/g;
const ownMessageMax = 500;
