/**
 * Slugs: names of agents and workflows in URLs and for other programs, such as the `model` of the OpenAI API. Unique within
 * a workspace, for agents and workflows together. A slug does not change with the name that it was derived from. An agent
 * may have aliases beside its slug, such as the identifier that it had in another system.
 */

export const slugMax = 64;
/** Not the form of an identifier: whatever accepts a slug also accepts an identifier. */
export const slugPattern = '^(?![a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$)[a-z0-9_-]{1,64}$';
/** Clients remove the segments `.` and `..` from a path. Every slug has this form, too. */
export const aliasPattern =
  '^(?!\\.{1,2}$)(?![a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$)[A-Za-z0-9._:-]{1,128}$';
export const aliasesMax = 20;

const alias = new RegExp(aliasPattern);

/** Whether something may have this slug or alias. */
export function isName(text: string): boolean {
  return alias.test(text);
}

/** The slug derived from a name; null if the name has no letter a to z and no digit. */
export function slugOf(name: string): string | null {
  const letters = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .slice(0, slugMax)
    .replace(/^-+|-+$/g, '');
  return /[a-z0-9]/.test(letters) && new RegExp(slugPattern).test(letters) ? letters : null;
}

/** The slug of something whose name gives none: the kind and the end of its wire identifier. */
export function slugOfId(kind: 'agent' | 'workflow', wireId: string): string {
  return `${kind}-${wireId.slice(-8)}`;
}
