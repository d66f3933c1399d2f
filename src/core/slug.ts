/**
 * Slugs: names of agents and workflows in URLs and for other programs, such as the `model` of the OpenAI API. Unique within
 * a workspace, for agents and workflows together. A slug does not change with the name that it was derived from.
 */

export const slugMax = 64;
/** Not the form of an identifier: whatever accepts a slug also accepts an identifier. */
export const slugPattern = '^(?![a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$)[a-z0-9_-]{1,64}$';
const form = new RegExp(slugPattern);

export function isSlug(text: string): boolean {
  return form.test(text);
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
  return /[a-z0-9]/.test(letters) && isSlug(letters) ? letters : null;
}

/** The slug of something whose name gives none: the kind and the end of its wire identifier. */
export function slugOfId(kind: 'agent' | 'workflow', wireId: string): string {
  return `${kind}-${wireId.slice(-8)}`;
}
