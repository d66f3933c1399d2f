import { createHash } from 'node:crypto';

/** Names of tools. Clients put the name of the server before them, and models allow 64 characters in all. */
export const toolNameMax = 40;
const hashDigits = 12;
const prefixMax = toolNameMax - hashDigits - 1;

/** The slug; a longer one is cut, and ends with digits of its hash. */
export function toolNameOf(slug: string): string {
  if (slug.length <= toolNameMax) return slug;
  const hash = createHash('sha256').update(slug).digest('hex');
  return `${slug.slice(0, prefixMax)}-${hash.slice(0, hashDigits)}`;
}

const cutName = new RegExp(`^(.{${prefixMax}})-([0-9a-f]{${hashDigits}})$`);

/** What is known of the slug of a cut name; null if the name is not cut. */
export function cutSlugOf(name: string): { readonly prefix: string; readonly hash: string } | null {
  const [, prefix, hash] = cutName.exec(name) ?? [];
  return prefix === undefined || hash === undefined ? null : { prefix, hash };
}
