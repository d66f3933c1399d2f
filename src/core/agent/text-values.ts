import type { AllowedHosts } from '../allowed-hosts.ts';
import { computeJob } from '../compute.ts';
import { compact, members } from '../json.ts';
import { findMismatch } from '../schema/schema-validator.ts';
import { readMessages } from './messages.ts';

/** What a client may have turned into text: the variables of a call, and what the version takes. */
export interface TextValues {
  readonly workspaceId: string;
  readonly messageLists: readonly string[];
  /** `{name: schema}` as JSON; null for none. */
  readonly variableSchemas: string | null;
  /** The variables as compact JSON. */
  readonly json: string;
  readonly allowed?: AllowedHosts;
}

/**
 * The variables with the values that the client turned into text: some clients of MCP send `"5"` for 5 and `"[]"` for a list.
 * A text is read as JSON only if the variable does not take the text, and takes a number, boolean, object or list with that
 * JSON. It compiles schemas, so it runs in the compute thread.
 */
export function readTextValues(values: TextValues) {
  const { workspaceId, messageLists, variableSchemas, json, allowed } = values;
  const schemas = new Map(
    members(variableSchemas ?? '{}').map(({ name, text }) => [name, text] as const),
  );
  const takes = (name: string, value: string) => {
    const schema = schemas.get(name);
    const isList = messageLists.includes(name);
    if (isList && 'problem' in readMessages(value, name, { allowed })) return false;
    return schema === undefined || findMismatch({ workspaceId, schema }, value) === null;
  };
  const read = members(json).map(({ name, text }) => {
    const isTyped = schemas.has(name) || messageLists.includes(name);
    const value = isTyped && text.startsWith('"') ? jsonIn(JSON.parse(text)) : null;
    const isRead = value !== null && !takes(name, text) && takes(name, value);
    return `${JSON.stringify(name)}:${isRead ? value : text}`;
  });
  return `{${read.join(',')}}`;
}

export const readTextValuesJob = computeJob(import.meta.url, readTextValues);

/** The number, boolean, object or list that a text holds, as compact JSON; null if it holds none. */
function jsonIn(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' || value === null ? null : compact(text);
  } catch {
    return null;
  }
}
