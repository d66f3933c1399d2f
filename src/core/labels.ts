import { invalidRequest } from './failure.ts';
import { isStorable, type Member, members } from './json.ts';

/** Who an execution was for. A field is null if the caller did not send it; an empty list or object counts as not sent. */
export interface Labels {
  readonly user: string | null;
  readonly session: string | null;
  readonly tags: readonly string[] | null;
  /** The JSON text of an object of strings. */
  readonly metadata: string | null;
}

export const labelFields = ['user', 'session', 'tags', 'metadata'] as const;

export const userMax = 128;
export const sessionMax = 128;
export const tagsMax = 10;
export const tagMax = 64;
export const metadataMax = 16;
export const metadataNameMax = 64;
export const metadataValueMax = 512;

/** The problem of an invalid field, for the caller. */
export interface LabelsProblem {
  readonly problem: string;
}

/** Reads the labels among the members of a compact object. Null if it has none. If a name is sent twice, the last value wins. */
export function readLabels(found: readonly Member[]): Labels | LabelsProblem | null {
  const texts = new Map<string, string>();
  for (const { name, text } of found) {
    if ((labelFields as readonly string[]).includes(name)) texts.set(name, text);
  }
  if (texts.size === 0) return null;
  for (const [name, text] of texts) {
    const problem = problemOf(name as (typeof labelFields)[number], text);
    if (problem !== null) return { problem: `Field "${name}" ${problem}.` };
  }
  return labelsOf({
    user: parsed<string>(texts.get('user')),
    session: parsed<string>(texts.get('session')),
    tags: parsed<string[]>(texts.get('tags')),
    metadata: texts.get('metadata') ?? null,
  });
}

function parsed<T>(text: string | undefined): T | null {
  return text === undefined ? null : (JSON.parse(text) as T);
}

/** A tag counts once; the last value of a name in the metadata wins. */
function labelsOf({ user, session, tags, metadata }: Labels): Labels | null {
  const labels = {
    ...{ user, session },
    tags: tags === null || tags.length === 0 ? null : [...new Set(tags)],
    metadata: metadata === null ? null : objectText(new Map(textMembers(metadata))),
  };
  return Object.values(labels).every((one) => one === null) ? null : labels;
}

function objectText(values: ReadonlyMap<string, string>): string | null {
  const all = [...values].map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return all.length === 0 ? null : `{${all.join(',')}}`;
}

function textMembers(object: string): [string, string][] {
  return members(object).map(({ name, text }) => [name, text]);
}

function problemOf(field: (typeof labelFields)[number], text: string): string | null {
  if (!isStorable(text)) return 'contains a NUL or a lone surrogate, which cannot be stored';
  const value: unknown = JSON.parse(text);
  switch (field) {
    case 'user':
      return textProblem(value, userMax);
    case 'session':
      return textProblem(value, sessionMax);
    case 'tags':
      return tagsProblem(value);
    case 'metadata':
      return metadataProblem(text);
  }
}

function textProblem(value: unknown, max: number): string | null {
  if (typeof value === 'string' && !isLonger(value, max)) return null;
  return `must be a string of at most ${max} characters`;
}

function tagsProblem(value: unknown): string | null {
  if (!Array.isArray(value) || value.length > tagsMax) {
    return `must be a list of at most ${tagsMax} strings`;
  }
  const valid = value.every((tag) => tag !== '' && textProblem(tag, tagMax) === null);
  return valid ? null : `must contain only strings of 1 to ${tagMax} characters`;
}

/** Judges the text, because a parsed object would lose a member named `__proto__`. */
function metadataProblem(text: string): string | null {
  const values = text.startsWith('{') ? new Map(textMembers(text)) : null;
  if (values === null || values.size > metadataMax) {
    return `must be an object of at most ${metadataMax} strings`;
  }
  for (const [name, value] of values) {
    if (isLonger(name, metadataNameMax)) {
      return `must have names of at most ${metadataNameMax} characters`;
    }
    if (!value.startsWith('"') || isLonger(JSON.parse(value) as string, metadataValueMax)) {
      return `must contain only strings of at most ${metadataValueMax} characters`;
    }
  }
  return null;
}

/** Counts characters, not UTF-16 units: an emoji is one. */
function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

/** The compact JSON text of an object with the given fields; null without labels. */
export function labelsJson(labels: Labels | null): string | null {
  if (labels === null) return null;
  const { user, session, tags, metadata } = labels;
  const fields = [
    user !== null && `"user":${JSON.stringify(user)}`,
    session !== null && `"session":${JSON.stringify(session)}`,
    tags !== null && `"tags":${JSON.stringify(tags)}`,
    metadata !== null && `"metadata":${metadata}`,
  ];
  return `{${fields.filter((field) => field !== false).join(',')}}`;
}

/** Labels as fields of a parsed body; undefined does not change a field, and null removes it. */
export interface LabelFields {
  readonly user?: string | null;
  readonly session?: string | null;
  readonly tags?: readonly string[] | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
}

/** Stored labels after a change. Throws if a field is invalid. */
export function changedLabels(json: string | null, change: LabelFields): string | null {
  const fields = new Map(members(json ?? '{}').map(({ name, text }) => [name, text]));
  for (const field of labelFields) {
    const value = change[field];
    if (value === null) fields.delete(field);
    else if (value !== undefined) fields.set(field, JSON.stringify(value));
  }
  const labels = readLabels([...fields].map(([name, text]) => ({ name, text })));
  if (labels !== null && 'problem' in labels) throw invalidRequest(labels.problem);
  return labelsJson(labels);
}

/** The fields of stored labels, for a response. */
export function labelFieldsOf(json: string | null): {
  user?: string;
  session?: string;
  tags?: string[];
  metadata?: Record<string, string>;
} {
  return json === null ? {} : JSON.parse(json);
}

/** Labels as stored by `labelsJson`. */
export function storedLabels(json: string | null): Labels | null {
  if (json === null) return null;
  const labels = readLabels(members(json));
  if (labels !== null && 'problem' in labels) throw new Error(`Invalid labels: ${labels.problem}`);
  return labels;
}
